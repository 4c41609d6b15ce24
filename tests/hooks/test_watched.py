"""Which files of a mailbox tell that mail may have come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.hooks import clock, run
from console.hooks.quick_line import stat_mark
from console.hooks.unread.watched import bell_of, mailbox_file, paths_of
from mailstore.kit.watched_store import MOST_PATHS, watched_folders
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from tests.mailboxes import MailFiles


def watched(url: str) -> tuple[str, ...]:
    with open_store(url) as store:
        return store.watched().paths


@pytest.mark.parametrize("letters", [3, MOST_PATHS + 1])
def test_a_letter_in_a_file_of_its_own_is_noticed(tmp_path: Path, letters: int) -> None:
    inbox = tmp_path / "mailboxes" / "ann" / "inbox"
    inbox.mkdir(parents=True)
    for number in range(letters):
        (inbox / f"{number}.txt").touch()
    paths = watched_folders(tmp_path / "mailboxes").paths
    assert 0 < len(paths) <= MOST_PATHS
    before = [stat_mark(path) for path in paths]
    assert before == [stat_mark(path) for path in paths]
    (inbox / "new.txt").touch()
    assert before != [stat_mark(path) for path in paths]


def test_very_many_folders_are_looked_at_each_time(tmp_path: Path) -> None:
    for number in range(MOST_PATHS + 1):
        (tmp_path / str(number)).mkdir()
    assert watched_folders(tmp_path).paths == ()


def test_a_line_more_in_one_of_a_few_files_is_noticed(tmp_path: Path) -> None:
    team = tmp_path / "teams" / "ink"
    for file in (team / "inboxes" / "ann.json", tmp_path / "tasks" / "ink" / "1.json"):
        file.parent.mkdir(parents=True)
        file.write_text("[]")
        for url in (f"claude-teams:{team}", f"claude-teams:{team.parent}"):
            paths = watched(url)
            before = [stat_mark(path) for path in paths]
            file.write_text(file.read_text() + " ")
            assert before != [stat_mark(path) for path in paths]


def test_several_mailboxes_are_watched_together_or_not_at_all(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path / "here")
    mail.message("m", "ann", "bob")
    log = tmp_path / "mailbox.jsonl"
    log.write_text('{"id":"1","at":"2026-03-16T12:00:00Z","from":"a","to":"b","type":"note","body":"x"}\n')
    parts = {"one": mail.url, "two": f"agenties:{log}"}
    found = watched(url_of(parts))
    assert {str(mail.mailbox.resolve()), str(log.resolve())} <= set(found)
    assert watched(url_of({**parts, "gone": f"agenties:{tmp_path / 'none.jsonl'}"})) == ()


def test_a_hook_reads_another_kinds_mailbox_again_only_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / ".agenties" / "mailbox.jsonl"
    log.parent.mkdir()
    log.touch()
    monkeypatch.setenv("SIGNALBOX_AGENT", "forge-1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(clock, "start", lambda status: None)  # it would end these tests
    looked: list[str] = []
    look = run.look
    monkeypatch.setattr(run, "look", lambda mailbox, *rest: (looked.append(mailbox), look(mailbox, *rest))[1])

    def told(event: str, **more: str) -> str:
        given = {"session_id": "s-1", "cwd": str(tmp_path), "hook_event_name": event, **more}
        assert run.run(["claude-code"], json.dumps(given).encode()) == 0
        return capfd.readouterr().out

    told("SessionStart", source="startup")
    assert len(looked) == 1
    for prompt in ("one", "two"):
        assert "letter" not in told("UserPromptSubmit", prompt=prompt)
    assert len(looked) == 1
    log.write_text('{"id":"1","at":"2026-03-16T12:00:00Z","from":"a","to":"forge-1","type":"note","body":"x"}\n')
    assert "1 new letter" in told("UserPromptSubmit", prompt="three")
    assert len(looked) == 2


def test_the_file_that_programs_watch_is_that_of_the_messages() -> None:
    assert mailbox_file("haak:/data/agent-mailbox.jsonl") == "/data/agent-mailbox.jsonl"
    assert mailbox_file("agenties:/x/mailbox.jsonl") == ""
    assert paths_of("haak:/data/agent-mailbox.jsonl")[0] == "/data/agent-mailbox.jsonl"
    assert paths_of("agenties:/x/mailbox.jsonl") == []
    assert bell_of("/state", "codex", "s-1") == "/state/bell-codex-s-1"
