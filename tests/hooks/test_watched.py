"""Which files of a mailbox tell that mail may have come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.hooks import clock, run
from console.hooks.quick_look import stat_mark
from console.hooks.unread.watched import bell_of, mailbox_file, paths_of
from mailstore.kit.watched_store import MOST_PATHS, watched_folders
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from tests.mailboxes import MailFiles


def watched(url: str) -> tuple[str, ...]:
    with open_store(url) as store:
        return store.watched().mail


@pytest.mark.parametrize("messages", [3, MOST_PATHS + 1])
def test_a_message_in_a_file_of_its_own_is_noticed(tmp_path: Path, messages: int) -> None:
    inbox = tmp_path / "mailboxes" / "ann" / "inbox"
    inbox.mkdir(parents=True)
    for number in range(messages):
        (inbox / f"{number}.txt").touch()
    paths = watched_folders(tmp_path / "mailboxes").mail
    assert 0 < len(paths) <= MOST_PATHS
    before = [stat_mark(path) for path in paths]
    assert before == [stat_mark(path) for path in paths]
    (inbox / "new.txt").touch()
    assert before != [stat_mark(path) for path in paths]


def test_very_many_folders_are_looked_at_each_time(tmp_path: Path) -> None:
    for number in range(MOST_PATHS + 1):
        (tmp_path / str(number)).mkdir()
    assert watched_folders(tmp_path).mail == ()


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


class HookHere:
    """A session of Claude Code whose hook runs in this process; `looked` counts how often it read the mailbox."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr(clock, "start", lambda status: None)  # it would end these tests
        look = run.look

        def counted(*given: Any) -> Any:
            self.looked += 1
            return look(*given)

        monkeypatch.setattr(run, "look", counted)
        self._folder, self._capfd = folder, capfd
        self.looked = self._prompts = 0
        self.options: list[str] = []

    def event(self, name: str, **more: str) -> str:
        given = {"session_id": "s-1", "cwd": str(self._folder), "hook_event_name": name, **more}
        assert run.run(["claude-code", *self.options], json.dumps(given).encode()) == 0
        return self._capfd.readouterr().out

    def prompt(self) -> str:
        self._prompts += 1
        return self.event("UserPromptSubmit", prompt=f"prompt {self._prompts}")


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> HookHere:
    return HookHere(tmp_path, monkeypatch, capfd)


def test_a_hook_reads_another_kinds_mailbox_again_only_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: HookHere
) -> None:
    log = tmp_path / ".agenties" / "mailbox.jsonl"
    log.parent.mkdir()
    log.touch()
    monkeypatch.setenv("SIGNALBOX_AGENT", "forge-1")
    hook.event("SessionStart", source="startup")
    assert hook.looked == 1
    assert "letter" not in hook.prompt() + hook.prompt()
    assert hook.looked == 1
    log.write_text('{"id":"1","at":"2026-03-16T12:00:00Z","from":"a","to":"forge-1","type":"note","body":"x"}\n')
    assert "1 new message" in hook.prompt()
    assert hook.looked == 2


def test_a_mailbox_with_very_many_folders_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: HookHere
) -> None:
    box = tmp_path / "data" / "mailboxes"

    def write(name: str, day: str, subject: str) -> None:
        inbox = box / f"{name}@localhost" / day / "inbox"
        inbox.mkdir(parents=True, exist_ok=True)
        head = f"From: bob@localhost\nTo: {name}@localhost\nSubject: {subject}\nDate: {day} 12:00:00\n"
        (inbox / f"{subject}.txt").write_text(f"{head}Message-ID: {subject}\nStatus: new\n\n---\nx\n")

    write("bob", "2026-03-16", "first")
    (box / "ann@localhost" / "2026-03-16" / "inbox").mkdir(parents=True)
    monkeypatch.setenv("SIGNALBOX_AGENT", "ann@localhost")
    hook.options = ["--store", f"agentazall:{box}"]
    hook.event("SessionStart", source="startup")
    hook.prompt()
    assert hook.looked == 1
    for number in range(MOST_PATHS // 3 + 1):
        write(f"agent-{number}", "2026-03-16", f"m{number}")
    for looked in (2, 3):
        hook.prompt()
        assert hook.looked == looked
    write("agent-0", "2026-03-17", "elsewhere")
    write("ann", "2026-03-17", "late")
    assert "1 new message" in hook.prompt()


def test_reads_of_others_let_no_hook_read_several_mailboxes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: HookHere
) -> None:
    mails = [MailFiles(tmp_path / name) for name in ("ink", "mill")]
    for mail in mails:
        mail.message("m", "ann", "bob")
    monkeypatch.setenv("SIGNALBOX_AGENT", "ink/cid-00000001")
    hook.options = ["--store", url_of({"ink": mails[0].url, "mill": mails[1].url})]
    hook.event("SessionStart", source="startup")
    hook.prompt()
    before = hook.looked
    mails[0].read("m", "bob")
    hook.prompt()
    assert hook.looked == before
    mails[1].message("m2", "ann", "bob")
    hook.prompt()
    assert hook.looked == before + 1


def test_the_file_that_programs_watch_is_that_of_the_messages() -> None:
    assert mailbox_file("haak:/data/agent-mailbox.jsonl") == "/data/agent-mailbox.jsonl"
    assert mailbox_file("agenties:/x/mailbox.jsonl") == ""
    assert paths_of("haak:/data/agent-mailbox.jsonl")[0] == "/data/agent-mailbox.jsonl"
    assert paths_of("agenties:/x/mailbox.jsonl") == []
    assert bell_of("/state", "codex", "s-1") == "/state/bell-codex-s-1"
