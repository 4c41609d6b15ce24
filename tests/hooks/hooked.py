"""A repository with a mailbox, and sessions of programs whose installed hooks run in it as real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from console.hooks import entry
from tests.hooks.forking import HookForks

SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"


ROOT = Path(__file__).parents[2]
PATIENT = (
    "import os, sys; sys.path.insert(0, sys.argv[1])\n"
    "from console.hooks import clock, entry\n"
    "clock.LIMIT_SECONDS = 60.0\n"
    "os._exit(entry.hook(sys.argv[2:]))"
)
"""What `entry.py` does, with the time that a loaded machine needs."""

Env = dict[str, str] | None


class Said(NamedTuple):
    """What a hook printed and how it ended."""

    out: str
    err: str
    status: int

    @property
    def text(self) -> str:
        """Return what the model is told, whichever program it is."""
        if not self.out:
            return self.err
        given = json.loads(self.out)
        inner = given.get("hookSpecificOutput", given)
        return str(inner.get("additionalContext") or inner.get("reason") or inner.get("text") or "")


class Hooked:
    """Runs hooks in a repository below a folder."""

    def __init__(self, folder: Path, forks: HookForks) -> None:
        self.forks = forks
        self.repository = folder / "repo"
        self.state = folder / "state" / "signalbox"
        self.data = self.repository / "data"
        self.data.mkdir(parents=True)
        self.mailbox.touch()
        self.senders = ("boss", "ann", "human")
        lines = (json.dumps({"session_id": name, "status": "living"}) for name in self.senders[:2])
        (self.data / "agent-roster.jsonl").write_text("".join(f"{line}\n" for line in lines))
        self.sent = 0

    @property
    def mailbox(self) -> Path:
        return self.data / "agent-mailbox.jsonl"

    @property
    def env(self) -> dict[str, str]:
        places = {"HOME": str(self.state.parents[1]), "XDG_STATE_HOME": str(self.state.parent)}
        return {"PATH": os.environ["PATH"], **places}

    @property
    def log(self) -> str:
        path = self.state / "hooks.log"
        return path.read_text() if path.exists() else ""

    def states(self) -> list[Path]:
        return sorted(path for path in self.state.glob("hooks/*/[!b]*") if path.is_file())

    @property
    def orders(self) -> str:
        """The folder of the orders to the agents of the only mailbox."""
        (folder,) = {path.parent for path in self.states()}
        return f"{self.state}/hooks/held/{folder.name}"

    def send(self, to: str = AGENT, sender: str = "boss", kind: str = "", text: str = "hello") -> str:
        self.sent += 1
        now = time.time()
        message = {
            "id": f"message-{self.sent}",
            "timestamp": f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z",
            "sender": sender,
            "recipient": to,
            "subject": "MARK-subject",
            "content": text,
            "type": kind,
        }
        with self.mailbox.open("a") as file:
            file.write(json.dumps(message) + "\n")
        return f"message-{self.sent}"

    def reads(self) -> list[str]:
        path = self.data / "agent-mailbox-reads.jsonl"
        return [json.loads(line)["message_id"] for line in path.read_text().splitlines()] if path.exists() else []

    def roster(self) -> dict[str, dict[str, Any]]:
        lines = map(json.loads, (self.data / "agent-roster.jsonl").read_text().splitlines())
        return {each["session_id"]: each for each in lines if each["session_id"] not in self.senders}

    def input(self, event: str, **more: Any) -> str:
        given = {"session_id": SESSION, "cwd": str(self.repository), "hook_event_name": event}
        return json.dumps(given | more, separators=(",", ":"))

    def start(
        self, event: str, *options: str, tool: str = "claude-code", env: dict[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[str]:
        """Start a hook and hand it its input."""
        argv = [sys.executable, "-I", "-S", "-c", PATIENT, str(ROOT), tool, *options]
        pipe = subprocess.PIPE
        process = subprocess.Popen(argv, env=self.env | (env or {}), text=True, stdin=pipe, stdout=pipe, stderr=pipe)
        assert process.stdin
        process.stdin.write(self.input(event, **more))
        process.stdin.close()
        process.stdin = None
        return process

    def run(
        self, event: str, *options: str, tool: str = "claude-code", env: dict[str, str] | None = None, **more: Any
    ) -> Said:
        """Run a hook to its end."""
        return Said(*self.forks.run([tool, *options], self.input(event, **more), self.env | (env or {})))

    def raw(self, data: bytes, *words: str) -> Said:
        """Run a hook with any input and any arguments."""
        argv = [sys.executable, "-I", "-S", entry.__file__, *words]
        done = subprocess.run(argv, input=data, env=self.env, capture_output=True, check=False)
        return Said(done.stdout.decode(), done.stderr.decode(), done.returncode)

    def claude(self, event: str, *options: str, **more: Any) -> str:
        """Run Claude Code's hook, and return the text that the model is told."""
        said = self.run(event, *options, **more)
        assert said.status in (0, 2)
        return said.text
