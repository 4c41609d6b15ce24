"""A mailbox that takes longer to look at than a hook may: no event after the first waits for it, and it is folded."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from console.hooks.sessions.session_state import SessionState
from console.hooks.unread import slow_looks
from console.hooks.unread.fold_ahead import fold_ahead
from console.hooks.unread.slow_looks import FOLDING, begin_look, end_look, is_too_slow
from tests.hooks.hooked import AGENT, Hooked

NOW = time.time()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The mailboxes that were to be folded."""
    found: list[str] = []
    monkeypatch.setattr(slow_looks, "_fold_ahead", lambda mailbox, folder: found.append(folder))
    return found


def test_a_look_that_did_not_end_is_left_out_until_the_mailbox_is_folded(tmp_path: Path, asked: list[str]) -> None:
    state, folder = SessionState("codex", "s"), str(tmp_path)
    assert not is_too_slow(state, folder, NOW)
    assert begin_look(state, "agenties:/x/mailbox.jsonl", NOW)
    assert is_too_slow(state, folder, NOW + 1)
    assert is_too_slow(state, folder, NOW + 2)
    assert asked == [folder]
    (tmp_path / FOLDING).touch()
    os.utime(tmp_path / FOLDING, (NOW + 3, NOW + 3))
    assert not is_too_slow(state, folder, NOW + 4)
    begin_look(state, "agenties:/x/mailbox.jsonl", NOW + 4)
    assert is_too_slow(state, folder, NOW + 5)
    assert not is_too_slow(state, folder, NOW + 605)
    end_look(state)
    assert not is_too_slow(state, folder, NOW + 606)


def test_a_short_mailbox_is_always_looked_at(hooked: Hooked) -> None:
    state = SessionState("codex", "s")
    assert not begin_look(state, f"haak:{hooked.mailbox}", NOW)
    with hooked.mailbox.open("ab") as file:
        file.truncate(slow_looks.LONG_BYTES)
    assert begin_look(state, f"haak:{hooked.mailbox}", NOW)


def test_a_session_whose_first_look_was_ended_is_told_later(hooked: Hooked) -> None:
    hooked.send()
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from console.hooks import entry, run\n"
        "from console.hooks.unread import slow_looks\n"
        "slow_looks.LONG_BYTES = 0\n"
        "slow_looks._fold_ahead = print\n"
        "if sys.argv[2] == 'ended':\n"
        "    run.look = lambda *_: os._exit(0)\n"
        "entry.hook(['claude-code'])"
    )

    def run(event: str, how: str) -> str:
        argv = [sys.executable, "-I", "-S", "-c", program, str(Path(__file__).parents[2]), how]
        given = hooked.input(event)
        return subprocess.run(argv, input=given, env=hooked.env, capture_output=True, text=True, check=True).stdout

    assert run("SessionStart", "ended") == ""
    assert run("PostToolBatch", "usual").startswith(f"haak:{hooked.mailbox} ")
    assert run("PostToolBatch", "usual") == ""
    assert f'you are {AGENT} (tags project:repo). \\"' in run("SessionStart", "usual")
    [folder] = {path.parent for path in hooked.states() if path.name.startswith("claude-code-")}
    (folder / FOLDING).touch()
    assert "1 new message for" in run("PostToolBatch", "usual")


def test_a_mailbox_is_folded_ahead_once_at_a_time(hooked: Hooked, tmp_path: Path) -> None:
    hooked.send()
    lock = tmp_path / "folding"
    lock.touch()
    os.utime(lock, (1, 1))
    with lock.open() as held:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
        fold_ahead(f"haak:{hooked.mailbox}", str(lock))
        assert lock.stat().st_mtime == 1
    fold_ahead(f"haak:{hooked.mailbox}", str(lock))
    assert lock.stat().st_mtime > 1
