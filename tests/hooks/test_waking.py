"""Waking sessions through their programs: Codex's queue and bell files; once for a message, and not all night."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from console.hooks.sessions.hooked_agents import LiveHook
from console.hooks.sessions.live import live_hooks
from console.hooks.waking import wake_session as waking
from console.hooks.waking.limits import may_wake, release, wakes_file
from console.hooks.waking.ringing import ring_called, wake_for, wake_log
from mailstore.haak import HaakStore
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Roster
from mailstore.rules.presence import called
from tests.hooked import fake_codex, hooked
from tests.mailboxes import NOW, MailFiles
from tests.patience import PATIENCE

ANN, BOB = "ann-00000001", "bob-00000001"
SESSION = "019a9b7e-0000-7000-8000-00000000abcd"


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.agent(BOB)
    mail.message("one", ANN, BOB, ago=60)
    return mail


def item(message_id: str, sender: str = ANN, kind: str = "question") -> Message:
    return Message(message_id, sender, (BOB,), "", NOW, "$(touch hacked)", type=kind)


def hook_of(mail: MailFiles, **more: object) -> LiveHook:
    hooked(mail.url, BOB, **{"doing": "idle", "since": NOW, "last_run": NOW, "can_wake": True, **more})
    with HaakStore.open(mail.data) as store:
        return live_hooks(store.url, NOW)[BOB]


def rung_for(mail: MailFiles, message: Message, now: float = NOW, *, by_user: bool = False) -> list[str]:
    with HaakStore.open(mail.data) as store:
        return [one.problem for one in ring_called(store.url, message, [BOB], now, by_user=by_user)]


def test_codex_gets_one_argument_of_our_own_words(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    hook_of(mail, tool="codex", session_id=SESSION, cwd=str(tmp_path))
    assert rung_for(mail, item("x", sender='"; touch hacked; "')) == [""]
    [[queue, thread, session, message]] = calls()
    name, _, text = message.partition("=")
    assert (queue, thread, session, name) == ("queue", "--thread", SESSION, "--message")
    assert text.startswith(f'Signalbox: 1 new message for {BOB}, from somebody (question). "')
    assert f"check --as {BOB}" in text
    assert "touch" not in text
    [record] = map(json.loads, wake_log().read_text().splitlines())
    assert (record["agent"], record["ids"], record["way"], record["status"]) == (BOB, ["x"], "codex queue", 0)
    assert not list(tmp_path.rglob("hacked"))


@pytest.mark.parametrize(
    "more",
    [
        {"doing": "working"},
        {"doing": "waiting"},
        {"can_wake": False},
        {"is_ended": True},
        {"session_id": "--help"},
        {"tool": "gemini"},
        {"tool": "claude-code"},  # its mailbox's file wakes it
    ],
)
def test_who_works_may_not_be_woken_or_hears_by_itself_is_left_alone(
    more: dict[str, object], mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    given = {"tool": "codex", "doing": "idle", "since": NOW, "last_run": NOW, "can_wake": True, **more}
    hooked(mail.url, BOB, **given)
    assert rung_for(mail, item("x")) == []
    assert calls() == []
    assert not wake_log().exists()


def test_a_message_wakes_once_and_an_agent_wakes_another_once_a_minute(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    hook_of(mail, tool="codex", session_id=SESSION)
    assert rung_for(mail, item("a")) == [""]
    assert rung_for(mail, item("b"), NOW + 59) == []  # once a minute for a pair
    assert rung_for(mail, item("c", sender="cat-00000001"), NOW + 59) == [""]
    assert rung_for(mail, item("d", sender="user"), NOW + 59, by_user=True) == [""]
    assert rung_for(mail, item("e", sender="user"), NOW + 59, by_user=True) == [""]
    assert rung_for(mail, item("a"), NOW + 61) == []  # once for a message
    assert rung_for(mail, item("b"), NOW + 61) == [""]
    assert len(calls()) == 5


def test_a_wake_that_fails_is_a_line_and_may_be_tried_again(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook_of(mail, tool="codex", session_id=SESSION)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert rung_for(mail, item("a")) == ["codex can't be run (no such file or directory)"]
    calls = fake_codex(tmp_path, monkeypatch, "print('Error: no \\x1b[31mrollout', file=sys.stderr); sys.exit(1)")
    assert rung_for(mail, item("a")) == ["codex queue ended with 1 (no ?[31mrollout)"]
    monkeypatch.setattr(waking, "COMMAND_SECONDS", 0.2)
    fake_codex(tmp_path, monkeypatch, "sys.stdin.read(); import threading; threading.Event().wait()")
    assert rung_for(mail, item("a")) == ["codex queue took longer than 0 s"]
    before = len(calls())  # what was ended in time may have begun, or not
    fake_codex(tmp_path, monkeypatch)
    monkeypatch.setattr(waking, "COMMAND_SECONDS", PATIENCE)
    assert rung_for(mail, item("a")) == [""]
    assert len(calls()) == before + 1 in (2, 3)
    problems = [json.loads(line).get("problem", "") for line in wake_log().read_text().splitlines()]
    assert [bool(problem) for problem in problems] == [True, True, True, False]


@pytest.mark.parametrize("tool", ["claude-code", "opencode"])
def test_a_bell_is_touched_for_programs_that_watch_it(tool: str, mail: MailFiles) -> None:
    hook = hook_of(mail, tool=tool, session_id="s-1")
    bell = Path(hook.folder) / f"bell-{tool}-s-1"
    done = wake_for(BOB, hook, [item("a")], NOW, ())
    assert done is not None
    assert (done.problem, done.way) == ("", "its bell file")
    first = bell.read_bytes()
    assert wake_for(BOB, hook, [item("b")], NOW + 61, ()) is not None
    assert bell.read_bytes() != first
    assert bell.stat().st_mode & 0o777 == 0o600
    bell.unlink()
    target = mail.data / "agent-mailbox.jsonl"
    before = target.read_bytes()
    bell.symlink_to(target)  # a link is not followed
    failed = wake_for(BOB, hook, [item("c")], NOW + 122, ())
    assert failed is not None
    assert "can't be written" in failed.problem
    assert target.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"pairs": 1, "messages": {"s-1": [1]}}', b"\xff" * 99])
def test_limits_that_are_damaged_are_begun_anew(content: bytes, mail: MailFiles) -> None:
    folder = hook_of(mail, session_id="s-1").folder
    Path(wakes_file(folder)).write_bytes(content)
    assert may_wake(folder, ANN, "s-1", ["a"], NOW)
    assert not may_wake(folder, ANN, "s-1", ["b"], NOW + 1)
    release(folder, ANN, "s-1", ["a"])
    assert may_wake(folder, ANN, "s-1", ["a"], NOW + 2)
    assert may_wake(folder, ANN, "other", ["a"], NOW + 2)
    assert "other" not in json.loads(Path(wakes_file(folder)).read_bytes())["letters"]  # there is no such session


def test_many_senders_at_once_lose_no_limit(mail: MailFiles) -> None:
    folder = hook_of(mail, session_id="s-1").folder
    code = (
        "import sys; from console.hooks.waking.limits import may_wake;"
        "print(sum(may_wake(sys.argv[1], 'x', 's-1', [str(n)], 5.0) for n in range(20)))"
    )
    from subprocess import PIPE, Popen

    runs = [Popen([sys.executable, "-c", code, folder], stdout=PIPE, env=os.environ) for _ in range(3)]
    assert sum(int(run.communicate()[0]) for run in runs) == 1


def test_which_messages_call_whom() -> None:
    roster = Roster()
    for name, role, tags in ((ANN, "", ()), (BOB, "clerk", ("project:ink",)), ("cat-00000001", "", ("project:ink",))):
        roster.put(Agent(name, role=role, tags=tags))

    def who(to: str, sender: str = ANN, *mentions: str) -> list[str]:
        return called(Message("m", sender, (to,), "", NOW, "", mentions=mentions), roster, "user")

    assert who(BOB) == who("clerk") == who(BOB, "user") == [BOB]
    assert who("all") == who("project:ink") == []
    assert who("all", ANN, BOB) == who("project:ink", ANN, "clerk") == [BOB]
    assert who(ANN) == who(BOB, BOB) == []
