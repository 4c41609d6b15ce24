"""What each extra is for, as a command: without the extra it says what to run, with it it does its work."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.install.ways import Done, Empty, Failed

REMEDY = re.compile(r": run (.+)$", re.MULTILINE)


class Probe(NamedTuple):
    """A command line after `signalbox`, what is put there for it, and how its success is told."""

    words: tuple[str, ...]
    is_done: Callable[[Done], bool]
    prepare: Callable[[Path], None] = lambda home: None


def _messages(home: Path) -> None:
    for box in ("inbox", "outbox"):
        (home / "letters" / "user@localhost" / "2026-03-16" / box).mkdir(parents=True)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


PROBES = {
    "agentazall": Probe(
        ("send", "--store", "agentazall:letters", "--from", "user", "--to", "user@localhost", "--body", "Hello."),
        lambda done: done.status == 0,
        _messages,
    ),
    "mcp": Probe(
        ("mcp", "--as", "ann-00000001", "--store", "haak:data"),
        lambda done: done.status == 0,
    ),
    "nats": Probe(
        ("threads", "--store", f"nats://127.0.0.1:{_free_port()}/lab"),
        lambda done: done.status == 1 and "127.0.0.1" in done.err,
    ),
    "serve": Probe(
        ("serve", "--port", "0", "--store", "haak:gone"),
        lambda done: done.status == 1 and "no agent-mailbox.jsonl at" in done.err,
    ),
}


def remedy_in(done: Done) -> str | None:
    """Return the command that an error advises to run; None if nothing is missing."""
    found = REMEDY.search(done.err)
    return found[1] if done.status and found and "install" in found[1] else None


def works(empty: Empty, extra: str) -> bool:
    """Say whether an extra's command does its work. Raises Failed if it neither does nor says what is missing."""
    probe = PROBES[extra]
    done = empty.run("signalbox", *probe.words)
    if remedy_in(done) is None and not probe.is_done(done):
        raise Failed(f"signalbox {' '.join(probe.words)}\nended with status {done.status}:\n{done.out}{done.err}")
    return remedy_in(done) is None
