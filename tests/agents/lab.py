"""A place for agents' programs: a repository with a mailbox, a home, and nothing else in their environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

from console.hooks.sessions.session_state import IDLE, SessionState, states_in
from tests.agents.programs import NODE
from tests.terminal import Terminal, environment

ROOT = Path(__file__).parents[2]
PATIENCE = 90.0
SCREEN = (150, 50)
SENDER = "boss"
"""Who writes from outside: registered, so that notices name it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended."""

    status: int
    out: str
    err: str


class Lab:
    """A scratch repository and home under one folder; programs that it started end with it."""

    def __init__(self, root: Path, bare: str) -> None:
        self.root = root
        self.home = root / "home"
        self.repository = self.home / "ink"
        self.data = self.repository / "data"
        self._bin = root / "bin"
        self._hooks = self.home / ".local" / "state" / "signalbox" / "hooks"
        self._bare = bare
        self._ends = ExitStack()
        for folder in (self.home, self.repository, self._bin):
            folder.mkdir()
        (self._bin / "signalbox").symlink_to(Path(sys.executable).with_name("signalbox"))
        (self._bin / "node").symlink_to(NODE)
        (self._bin / "bash").symlink_to("/bin/bash")  # Gemini runs hooks and commands with it
        (self.repository / "notes.txt").write_text("one\n")
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=one")
        self.signalbox("init", str(self.data))
        with (self.data / "agent-roster.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"session_id": SENDER, "status": "living"}) + "\n")

    @property
    def url(self) -> str:
        """Return the mailbox, as `--store` takes it."""
        return f"haak:{self.data}"

    def environment(self, **more: str) -> dict[str, str]:
        """Return all that a program finds in its environment."""
        path = os.pathsep.join([str(self._bin), self._bare])
        clean = environment(self.home, PATH=path, SHELL="/bin/sh", **more)
        del clean["PYTHONPATH"]
        return clean

    def git(self, *words: str, cwd: Path | None = None) -> None:
        """Run git in the repository."""
        names = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
        subprocess.run(
            ["git", *names, *words],
            cwd=cwd or self.repository,
            env=self.environment(),
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )

    # The mailbox

    def signalbox(self, *words: str, cwd: Path | None = None, **env: str) -> str:
        """Run our own command in the repository as a person would; return what it prints."""
        done = self.run([str(self._bin / "signalbox"), *words], cwd=cwd, env=env)
        assert done.status == 0, f"signalbox {' '.join(words)}: {done}"
        return done.out

    def install_hooks(self, program: str, *options: str) -> None:
        """Install the hooks as a person does."""
        self.signalbox("hook", "install", "--for", program, *options, "--store", self.url, "--yes")

    def ignore_mailbox(self) -> None:
        """Have git ignore the mailbox: Claude Code shows its person how other files change while a command runs."""
        with (self.repository / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            file.write("/data/\n")

    def send(self, recipient: str, body: str, *, sender: str = SENDER, **options: str) -> str:
        """Send a message from outside; return its id."""
        more = [word for name, value in options.items() for word in (f"--{name}", value)]
        words = ["--from", sender, "--to", recipient, "--body", body, *more]
        if "subject" not in options:
            words += ["--subject", "a message"]
        document = json.loads(self.signalbox("send", *words, "--store", self.url, "--json"))
        return str(document["id"])

    def send_many(self, recipient: str, bodies: Sequence[str]) -> list[str]:
        """Append messages as another program does, all at once; return their ids."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        ids = [str(uuid4()) for _ in bodies]
        head = {"sender": SENDER, "recipient": recipient, "timestamp": now, "subject": "a message"}
        rows = [{"id": one, **head, "content": body} for one, body in zip(ids, bodies, strict=True)]
        with (self.data / "agent-mailbox.jsonl").open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))
        return ids

    def messages(self) -> list[str]:
        """Return the ids of all messages, in the order in which they were sent."""
        return [one["id"] for one in self.records("agent-mailbox.jsonl")]

    def files(self) -> dict[str, bytes]:
        """Return every file of the checkout outside of the mailbox, with git's own list of exclusions."""
        found = (path for path in self.repository.rglob("*") if path.is_file())
        own = (self.data, self.repository / ".git")
        files = {path for path in found if not any(path.is_relative_to(folder) for folder in own)}
        files.add(self.repository / ".git" / "info" / "exclude")
        return {str(path.relative_to(self.repository)): path.read_bytes() for path in sorted(files)}

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a file of the mailbox; none where it does not exist."""
        path = self.data / name
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def reads_of(self, agent: str) -> list[str]:
        """Return the ids of the messages that an agent has a read record for, in the order of the records."""
        found = self.records("agent-mailbox-reads.jsonl")
        return [one["message_id"] for one in found if one["reader_session_id"] == agent]

    def wait_reads(self, agent: str, ids: Sequence[str]) -> None:
        """Wait until an agent has a read record for exactly these, in this order: the event after it writes it."""
        self.until(lambda: self.reads_of(agent) == list(ids), f"{agent} has read {', '.join(ids)}")

    def agents(self) -> dict[str, dict[str, Any]]:
        """Return what `signalbox agents` says, by id, of all but the sender of the messages."""
        rows = json.loads(self.signalbox("agents", "--store", self.url, "--json"))
        return {row["session_id"]: row for row in rows if row["session_id"] != SENDER}

    def doing(self, agent: str) -> str:
        """Return what `signalbox who` says that an agent does, "" for one that is not there."""
        found = json.loads(self.signalbox("who", "--store", self.url, "--json"))
        return next((self._presence(one) for one in found if one["session_id"] == agent), "")

    @staticmethod
    def _presence(row: Mapping[str, Any]) -> str:
        return f"{row['state']}, stale" if row["stale"] else str(row["state"])

    def until(self, holds: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
        """Look again and again until something holds. Raises AssertionError after `timeout` seconds."""
        end = time.monotonic() + timeout
        pause = Event()
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout:g} s: {what}\n{self.story()}")
            pause.wait(0.05)

    def wait_doing(self, agent: str, doing: str) -> None:
        """Wait until `signalbox who` says that an agent does this."""
        self.until(lambda: self.doing(agent) == doing, f"{agent} is {doing}")

    def wait_idle(self, agent: str) -> None:
        """Wait until the hook of an agent's turn end has run; a turn must have begun."""
        self.until(lambda: (state := self.session_of(agent)) and state.doing == IDLE, f"{agent} has ended its turn")

    def session_of(self, agent: str) -> SessionState | None:
        """Return what the hooks remember of an agent's session."""
        return next((state for state in self.sessions() if state.agent_id == agent), None)

    def sessions(self) -> list[SessionState]:
        """Return what the hooks remember of all sessions."""
        folders = self._hooks.iterdir() if self._hooks.exists() else ()
        return [state for folder in folders for state in states_in(str(folder))]

    def story(self) -> str:
        """Return what the hooks remember and log, and what `signalbox who` says: for a test that fails."""
        texts = [path.read_text("utf-8", "replace") for path in self._hooks.parent.rglob("*") if path.is_file()]
        return "\n".join([self.signalbox("who", "--store", self.url), *texts])

    # Programs

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        given: str = "",
        timeout: float = PATIENCE,
    ) -> Finished:
        """Run a program to its end. Raises AssertionError, with what it printed, where it takes too long."""
        process = self.start(argv, env=env, cwd=cwd)
        try:
            out, err = process.communicate(given, timeout=timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            out, err = process.communicate()
            raise AssertionError(
                f"{Path(argv[0]).name} did not end in {timeout:g} s: {out[-2000:]} {err[-2000:]}"
            ) from None
        return Finished(process.returncode, out, err)

    def start(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start a program in a process group of its own, with pipes; it is killed when the lab closes."""
        process = subprocess.Popen(
            list(argv),
            cwd=cwd or self.repository,
            env=self.environment(**(env or {})),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._ends.callback(_end, process)
        return process

    def terminal(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        size: tuple[int, int] = SCREEN,
    ) -> Terminal:
        """Start a program at a terminal of its own."""
        terminal = Terminal(argv, env=self.environment(**(env or {})), size=size, cwd=cwd or self.repository)
        return self._ends.enter_context(terminal)

    def close(self) -> None:
        """End every program."""
        self._ends.close()


def type_line(terminal: Terminal, text: str) -> None:
    """Type a text and, once the program shows it, Enter: both at once would be taken for a paste."""
    terminal.send(text)
    terminal.wait_for(text)
    terminal.press("enter")


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program and all that it started, where it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
