"""Sessions of Claude Code that write to each other, and what the mailbox of their transcripts says meanwhile."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from mailstore.kinds.claude_sessions import tracing
from mailstore.kinds.claude_sessions.store import ClaudeSessionsStore
from mailstore.state.mailbox import Mailbox
from tests.agents.claude_code import at_terminal, bash, start_print_mode, trust
from tests.agents.dialects import Step, call, say
from tests.agents.lab import Lab, type_line
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal, What

pytestmark = pytest.mark.program("claude-code")
ASKING = ("--permission-mode", "default")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    monkeypatch.setattr(tracing, "PATIENCE", 0.5)


def send(to: str, text: str) -> list[Step]:
    """Return the steps in which the model sends a message to a session, and ends its turn."""
    return [call("SendMessage", to=to, summary="a greeting", message=text), say(f"sent {text}")]


def load() -> Step:
    return call("ToolSearch", query="select:SendMessage", max_results=5)


def states(lab: Lab) -> dict[str, tuple[str, str]]:
    """Return of each message, by its text, what the last step of its way was, and its state."""
    found = {}
    with ClaudeSessionsStore.open(lab.home / ".claude") as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, time.time())
        for message in mailbox.newest():
            [standing] = mailbox.states(message, time.time()).values()
            steps = [way.transport for way in store.ways(message) if way.transport != "sender"]
            found[store.content(message)] = (steps[-1], standing.state.value)
    return found


SHOWN = {"in the inbox": "unread by", "read": "read by"}
"""How the console says a step of a message's way; of what was not delivered it says the step itself."""


class Beside:
    """The console, open beside the sessions, with all mail as one stream."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        argv = [str(lab.root / "bin" / "signalbox"), "--store", f"claude-sessions:{lab.home / '.claude' / 'projects'}"]
        self.terminal = lab.terminal(argv, size=(150, 70))
        self.terminal.wait_for("live")
        self.terminal.press("t")
        self.terminal.wait_for("sorted by time")
        self.terminal.press("t")
        self.terminal.wait_for("One stream")

    def shows(self, text: str, step: str) -> None:
        """Wait until the line below a message's text says what became of it."""
        words = SHOWN.get(step, step)

        def holds() -> bool:
            lines = [line.rpartition("││")[2].strip("│▎ ") for line in self.terminal.screen_text().split("\n")]
            at = [number for number, line in enumerate(lines) if line == text]
            return any(words in line for line in lines[at[0] + 1 : at[0] + 3]) if at else False

        self._lab.until(holds, f"{text}: {words} on the screen", 90)

    def wait(self, text: str, step: str, state: str) -> None:
        """Wait until the files say what became of a message, and the screen does."""
        lab = self._lab
        lab.until(lambda: states(lab).get(text) == (step, state), f"{text}: {step}, {state}, of {states(lab)}", 100)
        self.shows(text, step)


def press(terminal: Terminal, key: str, what: What) -> None:
    """Press a key of a dialog, which takes none in its first moments, until the screen shows what it does."""
    for _ in range(20):
        terminal.press(key)
        try:
            terminal.wait_for(what, 2.0)
        except AssertionError:
            continue
        return
    raise AssertionError(terminal.screen_text())


def runs(lab: Lab, name: str) -> int:
    """Return the number of the process in which a session runs, once the program says so."""

    def found() -> list[int]:
        files = (lab.home / ".claude" / "sessions").glob("*.json")
        return [said["pid"] for file in files if (said := json.loads(file.read_text())).get("name") == name]

    lab.until(found, f"a session {name}")
    return found()[0]


def test_read_when_idle_and_busy_not_sent_and_lost_with_its_recipient(lab: Lab) -> None:
    may_end, is_killed = Event(), Event()
    with (
        ScriptedModel(
            say("ready a"), load(), *send("beta", "IDLE"), *send("beta", "BUSY"), *send("nobody", "UNKNOWN"),
            *send("beta", "KILLED"),
        ) as one,
        ScriptedModel(
            say("ready b"), say("heard"), bash("sleep 0", before=may_end.wait), say("done"),
            say("too late", before=is_killed.wait),
        ) as other,
    ):  # fmt: skip
        beta = at_terminal(lab, other, *ASKING, "--name", "beta", "--allowedTools", "Bash")
        alpha = at_terminal(lab, one, *ASKING, "--name", "alpha")
        type_line(beta, "hello")
        type_line(alpha, "hello")
        beta.wait_for("ready b")
        alpha.wait_for("ready a")
        beside = Beside(lab)
        pid = runs(lab, "beta")
        before = {path: path.read_bytes() for path in (lab.home / ".claude" / "sessions").iterdir()}
        type_line(alpha, "the first")
        beside.wait("IDLE", "read", "read")
        assert before.keys() <= set((lab.home / ".claude" / "sessions").iterdir())
        alpha.wait_for("sent IDLE")
        type_line(beta, "work")
        other.wait_for("work")
        type_line(alpha, "the second")
        beside.wait("BUSY", "in the inbox", "unread")
        may_end.set()
        beside.wait("BUSY", "read", "read")
        alpha.wait_for("sent BUSY")
        type_line(alpha, "the third")
        beside.wait("UNKNOWN", "not sent", "undelivered")
        alpha.wait_for("sent UNKNOWN")
        beta.wait_for("done")
        type_line(beta, "work long")
        other.wait_for("work long")
        type_line(alpha, "the fourth")
        beside.wait("KILLED", "in the inbox", "unread")
        os.kill(pid, signal.SIGKILL)
        is_killed.set()
        beside.wait("KILLED", "lost", "undelivered")


def test_held_then_let_through_denied_or_refused(lab: Lab) -> None:
    folders = [lab.repository, lab.root / "wild", lab.root / "closed"]
    for folder in folders[1:]:
        folder.mkdir()
    trust(lab, *folders)
    with (
        ScriptedModel(
            say("ready a"), load(), *send("wild", "LET"), say("told: held"), say("told: let through"),
            *send("wild", "DENY"), say("told: held again"), say("told: denied"),
            *send("closed", "REFUSED"), say("told: refused"),
            *send("wild", "EXPIRED"), say("told: held thrice"), say("told: expired"),
        ) as one,
        ScriptedModel(say("ready w"), say("heard"), say("heard")) as two,
        ScriptedModel(say("ready c")) as three,
    ):  # fmt: skip
        skipping = ("--dangerously-skip-permissions", "--settings", json.dumps({"dialogExpiry": "60s"}))
        wild = at_terminal(lab, two, *skipping, "--name", "wild", cwd=folders[1], env={"IS_SANDBOX": "1"})
        wild.wait_for("Yes, I accept")
        wild.press("down")
        wild.press("enter")
        wild.wait_for("bypass permissions on")
        refusing = ("--settings", json.dumps({"crossSessionInbound": "refuse"}))
        closed = at_terminal(lab, three, *ASKING, *refusing, "--name", "closed", cwd=folders[2])
        alpha = at_terminal(lab, one, *ASKING, "--name", "alpha")
        for terminal, word in ((wild, "ready w"), (closed, "ready c"), (alpha, "ready a")):
            type_line(terminal, "hello")
            terminal.wait_for(word)
        beside = Beside(lab)
        type_line(alpha, "the first")
        beside.wait("LET", "held", "undelivered")
        alpha.wait_for("told: held")
        press(wild, "down", "❯ Deliver")
        press(wild, "enter", "heard")
        beside.wait("LET", "read", "read")
        alpha.wait_for("told: let through")
        type_line(alpha, "the second")
        beside.wait("DENY", "held", "undelivered")
        alpha.wait_for("told: held again")
        wild.wait_for("❯ Deny")
        press(wild, "enter", lambda it: it.find("❯ Deny") is None)
        beside.wait("DENY", "denied", "undelivered")
        alpha.wait_for("told: denied")
        type_line(alpha, "the third")
        beside.wait("REFUSED", "refused", "undelivered")
        alpha.wait_for("told: refused")
        type_line(alpha, "the fourth")
        beside.wait("EXPIRED", "held", "undelivered")
        beside.wait("EXPIRED", "expired", "undelivered")  # after a minute


def test_ten_sessions_of_which_nine_write_to_one(lab: Lab) -> None:
    texts = [f"NUMBER {number}" for number in range(9)]
    with ExitStack() as ends:
        hub_model = ends.enter_context(ScriptedModel(say("ready"), *(say("heard") for _ in texts)))
        hub = at_terminal(lab, hub_model, *ASKING, "--name", "hub")
        type_line(hub, "hello")
        hub.wait_for("ready")
        beside = Beside(lab)
        models = [ends.enter_context(ScriptedModel(load(), *send("hub", text))) for text in texts]
        running = [
            start_print_mode(lab, model, "go", *ASKING, "--name", f"one-{at}") for at, model in enumerate(models)
        ]
        for process in running:
            assert process.wait(120) == 0, process.communicate()
        for text in texts:
            beside.wait(text, "read", "read")
    assert set(states(lab)) == set(texts)
