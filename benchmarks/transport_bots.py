"""Four bots that answer each other by AgentAZAll mail, each with a mailbox tree and a daemon of its own."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.identity import Identity, public_of
from mailstore.kinds.agentazall.message_file import is_partial, parse
from mailstore.kinds.agentazall.signature import facts_of
from tests.project.import_graph import ROOT
from tests.servers.agentazall_programs import agentazall_python

BOTS = ("qwen-81b", "devstral-24b", "hermes-70b-1", "hermes-70b-2")
"""Named as in the paper; what they write is made up here."""
OURS, THEIRS = "signalbox sync", "agentazall daemon"
WORDS = "The margin of leaf 88 names the Kyoto catalogue, entry 412; “verify” ✓ — the second hand is later.\n"
END_SECONDS = 60.0


class Sent(NamedTuple):
    """A message that a bot wrote: a text that no other message has, and when."""

    mark: str
    sender: str
    recipient: str
    time: float


class Received(NamedTuple):
    """A message in a bot's inbox: the text by which it is known, and what is true of its signature."""

    mark: str
    sender: str
    subject: str
    time: float
    is_signed: bool
    is_valid_upstream: bool


class Bot:
    """One bot: `address` is its folder's name and its name on every server."""

    def __init__(self, folder: Path, name: str, daemon: str) -> None:
        self.address = f"{name}.agenttalk"
        self.daemon = daemon
        self.folder = folder
        self.home = folder / "data" / "mailboxes" / self.address
        self.root = self.home.parent
        self.home.mkdir(parents=True)
        seed = secrets.token_bytes(32)
        self.identity = Identity(seed, public_of(seed))
        self._seen: set[Path] = set()
        facts = {"private_key_hex": seed.hex(), "public_key_hex": self.identity.public.hex()}
        _write(self.home / ".identity_key", json.dumps(facts, indent=2))

    def configure(self, settings: Mapping[str, Any], every_seconds: float) -> None:
        """Write the config.json that both daemons understand."""
        config = {
            "agent_name": self.address, "agent_key": secrets.token_hex(16), "mailbox_dir": str(self.root),
            "sync_interval": every_seconds, "log_file": str(self.folder / "daemon.log"), **settings,
        }  # fmt: skip
        _write(self.folder / "config.json", json.dumps(config, indent=2))

    def command(self) -> list[str]:
        """Return how its daemon is started."""
        config = str(self.folder / "config.json")
        if self.daemon == OURS:
            return [sys.executable, "-m", "console", "sync", config]
        return [str(agentazall_python()), "-m", "agentazall", "-c", config, "daemon"]

    def send(self, recipient: str, subject: str) -> Sent:
        """Write a message into the outbox, as an agent does; the daemon signs it."""
        now, name = time.time(), secrets.token_hex(6)
        day = datetime.fromtimestamp(now).strftime("%Y-%m-%d")
        outbox = self.home / day / "outbox"
        outbox.mkdir(parents=True, exist_ok=True)
        mark = f"message {name}"
        written = datetime.fromtimestamp(now).strftime("%Y-%m-%d %H:%M:%S")
        head = f"From: {self.address}\nTo: {recipient}\nSubject: {subject}\nDate: {written}\nMessage-ID: {name}\n"
        draft = outbox / f"{name}.tmp"
        draft.write_text(f"{head}Status: new\n\n---\n{mark}\n{WORDS}The end.", encoding="utf-8")
        draft.replace(draft.with_suffix(".txt"))
        return Sent(mark, self.address, recipient, now)

    def waiting(self) -> int:
        """Return how many messages are still in its outboxes."""
        return len(list(self.home.glob("*/outbox/*.txt")))

    def new_messages(self, keys: Mapping[str, Identity]) -> Iterator[Received]:
        """Yield the messages that came since the last call."""
        for path in sorted(self.home.glob("*/inbox/*.txt")):
            if path in self._seen:
                continue
            found = _received(path, keys)
            if found is not None:
                self._seen.add(path)
                yield found


def _received(path: Path, keys: Mapping[str, Identity]) -> Received | None:
    """Return a message; None while the original program, which writes in place, is not done with it."""
    data = path.read_bytes()
    if is_partial(data):
        return None
    message = parse(data)
    facts = facts_of(message)
    text = unwrapped(message.body)
    if "message " not in text:
        return None
    sender = message.get("From")
    is_signed = facts.is_whole and facts.is_named and facts.key == keys[sender].public_key
    mark = text.partition("\n")[0].strip()
    return Received(mark, sender, message.get("Subject"), path.stat().st_mtime, is_signed, bool(facts.upstream))


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def running_bots(bots: list[Bot]) -> Iterator[None]:
    """Run the daemons of all bots, and end them with SIGTERM."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "LANG": "C.UTF-8"}
    with ExitStack() as stack:
        daemons = []
        for bot in bots:
            log = stack.enter_context(open(bot.folder / "log", "ab"))
            places = {"HOME": str(bot.folder), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
            daemons.append(
                subprocess.Popen(bot.command(), env={**env, **places}, cwd=bot.folder, stdout=log, stderr=log)
            )
        try:
            yield
        finally:
            for daemon in daemons:
                daemon.send_signal(signal.SIGTERM)
            for bot, daemon in zip(bots, daemons, strict=True):
                try:
                    daemon.wait(END_SECONDS)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()
                if bot.daemon == OURS and daemon.returncode:
                    raise RuntimeError(
                        f"{bot.address}: signalbox sync ended with {daemon.returncode}: see {bot.folder}/log"
                    )
