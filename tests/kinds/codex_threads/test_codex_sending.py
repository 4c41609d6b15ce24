"""Messages are queued by the program itself: here a program of the same name, that writes what Codex 0.169.0 does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import DraftRefused, StoreError, Unsupported
from mailstore.kinds.codex_threads.store import CodexStore
from mailstore.records.draft import draft
from mailstore.records.message import Message
from tests.kinds.codex_threads.test_codex_threads import CHILD, PARENT, THREAD, home, rollout, seen

__all__ = ["home"]

PROGRAM = """#!{python}
import json, os, sys, time
sys.path.insert(0, {tests!r})
from pathlib import Path
from tests.kinds.codex_threads.codex_threads_harness import line, queue
assert sys.argv[1] == "queue" and len(sys.argv) == 4, sys.argv
thread, text = sys.argv[2].removeprefix("--thread="), sys.argv[3].removeprefix("--message=")
print("WARNING: proceeding", file=sys.stderr)
if {mode!r} == "refuses":
    print("Error: No active session found matching '" + thread + "'.\\n\\nStack backtrace:", file=sys.stderr)
    sys.exit(1)
number = queue(Path(os.environ["CODEX_HOME"]), thread, text)
if {mode!r} == "takes":
    import sqlite3
    at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime())
    with sqlite3.connect(Path(os.environ["CODEX_HOME"]) / "queue_1.sqlite") as database:
        database.execute("DELETE FROM queued_items WHERE id = ?", (number,))
    started = {{"type": "task_started", "turn_attribution": {{"turn_id": "t1", "turn_trigger": "queue"}}}}
    item = {{"type": "UserMessage", "client_id": "client-" + number, "content": [{{"type": "text", "text": text}}]}}
    taken = {{"type": "item_completed", "turn_id": "t1", "item": item}}
    with open({rollout!r}, "ab") as file:
        file.write(line("event_msg", at, started) + line("event_msg", at, taken))
print(f"Queued message {{number}} for thread {{thread}}.")
"""


def install(home: Path, monkeypatch: pytest.MonkeyPatch, mode: str = "queues") -> None:
    program = home.parent / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    tests = str(Path(__file__).parents[3])
    text = PROGRAM.format(python=sys.executable, tests=tests, mode=mode, rollout=str(rollout(home)))
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def hello(store: CodexStore, text: str, to: str = PARENT) -> Message:
    return store.send(draft(sender="user", recipients=(to,), content=text))


def test_a_message_is_queued_for_a_thread_and_is_the_users_own_from_then_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(home, monkeypatch)
    with CodexStore.open(home) as store:
        scanned(store)
        sent = hello(store, "--message=no option\n日本")
        assert (sent.sender, sent.recipients) == ("user", (PARENT,))
        assert store.content(sent) == "--message=no option\n日本"
    found = seen(home)  # as another console, or this one opened again, shows it
    assert ("user", PARENT, "--message=no option\n日本", "frozen") in found
    assert ("codex-queue", PARENT, "MARK-ended", "frozen") in found  # what someone else had queued


def test_a_thread_that_takes_a_message_at_once_is_no_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home, monkeypatch, "takes")
    with CodexStore.open(home) as store:  # not read before: the name of the thread is looked for
        sent = hello(store, "quick")
    assert ("user", PARENT, "quick", "read") in seen(home)
    with CodexStore.open(home) as store:
        assert sent.id in {it.id for it in of(Message, scanned(store))}


def test_what_the_program_refuses_is_said_with_its_reason(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home, monkeypatch, "refuses")
    with CodexStore.open(home) as store, pytest.raises(StoreError, match="codex refused the message") as caught:
        hello(store, "hello")
    assert caught.value.remedy == f"No active session found matching '{THREAD}'."


@pytest.mark.parametrize(
    ("text", "to", "words"),
    [
        ("x" * 100_001, PARENT, "too long"),
        ("a\0b", PARENT, "NUL"),
        ("hello", "codex-queue", "is not a thread of Codex"),
        ("hello", "nobody@1234", "is not a thread of Codex"),
    ],
)
def test_what_can_not_be_queued_is_refused_before(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str, to: str, words: str
) -> None:
    install(home, monkeypatch)
    before = seen(home)
    with CodexStore.open(home) as store:
        scanned(store)
        with pytest.raises(DraftRefused) as caught:
            hello(store, text, to)
    assert words in f"{caught.value} {caught.value.remedy}"
    assert seen(home) == before


def test_a_subagent_is_a_thread_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home, monkeypatch)
    with CodexStore.open(home) as store:
        scanned(store)
        assert hello(store, "for the child", CHILD).recipients == (CHILD,)


def test_without_the_program_nothing_can_be_sent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    with CodexStore.open(home) as store, pytest.raises(Unsupported, match="codex, and it is not installed"):
        hello(store, "hello")
