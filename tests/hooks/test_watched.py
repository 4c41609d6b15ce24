"""Which files of a mailbox tell that mail may have come."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.hooks.quick_line import stat_mark
from console.hooks.unread.watched import MOST_PATHS, bell_of, mailbox_file, paths_of


def changed(url: str, paths: list[str], before: list[str]) -> bool:
    return paths_of(url) != paths or [stat_mark(path) for path in paths] != before


@pytest.mark.parametrize("letters", [3, MOST_PATHS + 1])
def test_a_letter_in_a_file_of_its_own_is_noticed(tmp_path: Path, letters: int) -> None:
    inbox = tmp_path / "mailboxes" / "ann" / "inbox"
    inbox.mkdir(parents=True)
    for number in range(letters):
        (inbox / f"{number}.txt").touch()
    url = f"agentazall:{tmp_path / 'mailboxes'}"
    paths = paths_of(url)
    assert 0 < len(paths) <= MOST_PATHS
    before = [stat_mark(path) for path in paths]
    assert not changed(url, paths, before)
    (inbox / "new.txt").touch()
    assert changed(url, paths, before)


def test_a_line_more_in_one_of_a_few_files_is_noticed(tmp_path: Path) -> None:
    team = tmp_path / "teams" / "ink"
    for file in (team / "inboxes" / "ann.json", tmp_path / "tasks" / "ink" / "1.json"):
        file.parent.mkdir(parents=True)
        file.write_text("[]")
        for url in (f"claude-teams:{team}", f"claude-teams:{team.parent}"):
            paths = paths_of(url)
            before = [stat_mark(path) for path in paths]
            file.write_text(file.read_text() + " ")
            assert changed(url, paths, before)


def test_what_is_on_a_server_or_unknown_is_looked_at_each_time(tmp_path: Path) -> None:
    assert paths_of("neo://host/db") == []
    assert paths_of(f"mapped:{tmp_path / 'map.toml'}") == []
    assert paths_of("several:a=agenties%3A%2Fx&b=mapped%3A%2Fy") == []


def test_several_mailboxes_are_watched_together(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").touch()
    found = paths_of(f"several:a=agenties%3A{tmp_path}%2Fone.jsonl&b=haak%3A%2Fdata%2Fagent-mailbox.jsonl")
    assert f"{tmp_path}/one.jsonl" in found
    assert "/data/agent-mailbox.jsonl" in found


def test_the_file_that_programs_watch_is_that_of_the_messages() -> None:
    assert mailbox_file("haak:/data/agent-mailbox.jsonl") == "/data/agent-mailbox.jsonl"
    assert mailbox_file("agenties:/x/mailbox.jsonl") == ""
    assert bell_of("/state", "codex", "s-1") == "/state/bell-codex-s-1"
