"""What a hook costs after a tool, as a whole process: with and without mail, few messages and many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.generate import generate
from console.hooks import entry

COLD = 3
MANY = 1_000_000
EMPTY = "python -c pass (beside hooks)"
NEW, NOTHING = "hook after a tool, a new message", "hook after a tool, nothing new"
LONG = "the same in a long mailbox"
SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"
HOOK = [sys.executable, "-I", "-S", entry.__file__, "claude-code"]


class Agent:
    """A session with hooks, at work on a generated mailbox."""

    def __init__(self, root: Path, messages: int) -> None:
        self._repository = root / str(messages)
        self._env = {"HOME": str(root), "PATH": os.environ.get("PATH", "")}
        self._mailbox = self._repository / "data" / "agent-mailbox.jsonl"
        generate(self._repository / "data", messages)
        fold = [sys.executable, "-m", "mailstore.folding", f"haak:{self._mailbox}", "user"]
        run(fold, self._env)  # an index of a long mailbox is kept when it is folded
        for event in ("SessionStart", "UserPromptSubmit", "PostToolBatch"):
            self.event(event)

    def event(self, name: str) -> tuple[int, str]:
        """Run the hook for one event; return the nanoseconds that it took, and what it said."""
        given = {"session_id": SESSION, "cwd": str(self._repository), "hook_event_name": name, "source": "startup"}
        return run(HOOK, self._env, json.dumps(given))

    def get_mail(self, number: int) -> None:
        """Append a message to the agent."""
        sent = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        message = {
            "id": f"new-{number}",
            "timestamp": sent,
            "sender": "boss",
            "recipient": AGENT,
            "subject": "hi",
            "content": "word " * 120,
        }
        with self._mailbox.open("a") as file:
            file.write(json.dumps(message) + "\n")


def run(argv: Sequence[str], env: dict[str, str], given: str = "") -> tuple[int, str]:
    """Run a program to its end; return the nanoseconds that it took, and what it printed."""
    start = time.monotonic_ns()
    done = subprocess.run(argv, env=env, input=given, capture_output=True, text=True, check=True)
    return time.monotonic_ns() - start, done.stdout


def measure(bench: Bench) -> None:
    """Run each kind of event once a round, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        few = Agent(root, 1_000)
        sizes = {NOTHING: 1_000, NEW: 1_000, LONG: 20_000 if bench.is_quick else MANY}
        many = Agent(root, sizes[LONG])
        taken: dict[str, list[int]] = {}
        for at in range(COLD + bench.rounds(40)):
            few.get_mail(at)
            new, said = few.event("PostToolBatch")
            assert AGENT in said, "the hook did not announce the message"
            round_of = {
                EMPTY: run([sys.executable, "-c", "pass"], {})[0],
                NEW: new,
                NOTHING: few.event("PostToolBatch")[0],
                LONG: many.event("PostToolBatch")[0],
            }
            for name, time_taken in round_of.items():
                if at >= COLD:
                    taken.setdefault(name, []).append(time_taken)
    for name, times in taken.items():
        bench.results.times(NOTHING if name == LONG else name, sizes.get(name, 0), times)
