"""Random histories of two hosts' files and a hub between them, mirrored with sudden ends, full disks and cut-offs.

In the end all three hold the same: nothing is lost, nothing comes twice, what was damaged is as it was, and an id that
stands for two messages stands for both, each where it was written. Each history is told by its number alone:
`python -m tests.hostile histories --first NUMBER --runs 1` is the same again.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from console.demo.nats_server import NatsServer
from mailstore.errors import MailError
from mailstore.files import append
from mailstore.kit.known_records import agent_digest
from mailstore.kit.timestamps import isoformat
from mailstore.mirroring.mirror import Mirror, Patience, Telling
from mailstore.mirroring.mirror_report import MirrorStatus
from mailstore.mirroring.mirror_state import MirrorState
from mailstore.records.message import Message
from mailstore.store import Store
from mailstore.stores.haak import HaakStore
from mailstore.stores.memory import MemoryStore
from mailstore.stores.memory.records import Records
from mailstore.stores.nats import NatsStore
from mailstore.transfer.compare import Contents
from mailstore.transfer.letters import adopted_letter
from tests.servers.nats_configs import one_node

__all__ = ["History", "mirrored"]

NOON = 1_773_662_400.0
HOUR = 3600.0
NAMES = ("ann-00000001", "bob-00000001", "cyd-00000001")
STEPS = 14


class _SuddenEnd(BaseException):
    """Ends a mirror where it is, as SIGKILL does."""


def mirrored(
    urls: tuple[str, str], opened: tuple[Callable[[], Store], Callable[[], Store]], *, is_both: bool = True
) -> MirrorStatus:
    """Mirror two mailboxes once. Raises MailError."""
    with MirrorState.held(*urls) as state:
        telling = Telling(lambda words, done, total: None, lambda status: None)
        mirror = Mirror(urls, opened, state, telling, is_both=is_both, patience=Patience(0.01, 0.1, 2.0))
        asyncio.run(mirror.run(once=True))
    return mirror.status


class _Box:
    """A mailbox as programs write to it."""

    def __init__(self, name: str, folder: Path, kind: str, skew: float) -> None:
        self.name, self.kind, self.skew = name, kind, skew
        self.folder = folder / name / "data"
        self.records = Records()
        self.messages: dict[str, str] = {}
        self.is_cut_off = False
        self.agents: list[dict[str, Any]] = []
        if kind.startswith("nats"):
            NatsStore.create(kind.removeprefix("nats:")).close()
        elif kind != "memory":
            self.folder.mkdir(parents=True)
            (self.folder / "agent-mailbox.jsonl").touch()
            self._roster.write_text("" if kind == "haak" else "[]")

    @property
    def _roster(self) -> Path:
        return self.folder / ("agent-roster.jsonl" if self.kind == "haak" else "agent-roster.json")

    @property
    def url(self) -> str:
        if self.kind.startswith("nats"):
            return self.kind
        return f"memory:/{self.name}" if self.kind == "memory" else f"haak:{self.folder}/agent-mailbox.jsonl"

    def open(self) -> Store:
        if self.is_cut_off:
            raise MailError("cut off", "wait")
        if self.kind.startswith("nats"):
            return NatsStore.open(self.kind.removeprefix("nats:"))
        return MemoryStore(records=self.records) if self.kind == "memory" else HaakStore.open(self.folder)

    def _put(self, name: str, line: str) -> None:
        with (self.folder / name).open("a") as file:
            file.write(line + "\n")

    def message(self, fields: dict[str, Any]) -> None:
        self.messages[fields["id"]] = fields["content"]
        if self.kind == "memory":
            MemoryStore(records=self.records).append(fields)
        elif self.kind.startswith("nats"):
            one = MemoryStore()
            one.append(fields)
            (message,) = Contents(one).messages.values()
            letter = adopted_letter(message, fields["content"], fields, HaakStore.known_fields)
            with NatsStore.open(self.kind.removeprefix("nats:")) as store:
                store.merge([letter])
        else:
            self._put("agent-mailbox.jsonl", json.dumps(fields))

    def read(self, message_id: str, reader: str) -> None:
        with self.open() as store:
            store.mark_read(reader, [message_id])

    def agent(self, **fields: Any) -> None:
        with self.open() as store:
            kept = next((each for each in Contents(store).lines[::-1] if each.session_id == fields["session_id"]), None)
        from mailstore.records.roster import Agent

        agent = Agent(**fields) if kept is None else kept.__class__(**{**_fields(kept), **fields})
        with self.open() as store:
            store.update_agent(agent)

    def damage(self) -> None:
        if self.kind == "memory":
            MemoryStore(records=self.records).append("{torn")
        elif self.kind == "haak" or self.kind == "document":
            self._put("agent-mailbox.jsonl", '{"id": "torn", "sender": "x"')

    def contents(self) -> tuple[Contents, dict[str, str]]:
        with self.open() as store:
            found = Contents(store)
            return found, {name: store.content(message) for name, message in found.messages.items()}


def _fields(agent: Any) -> dict[str, Any]:
    return {name: getattr(agent, name) for name in agent.__struct_fields__}


class History:
    """One random history, told by its number."""

    def __init__(self, number: int, folder: Path, server: str = "") -> None:
        self.chance = random.Random(number)
        kinds = [self.chance.choice(("haak", "haak", "document")) for _ in range(2)]
        hub = self.chance.choice(("memory", "haak"))
        if server:
            hub = f"nats://{server}/history-{number}"
        skews = [self.chance.choice((0.0, HOUR, -HOUR)) for _ in range(3)]
        self.hosts = [_Box(name, folder, kind, skew) for name, kind, skew in zip("ab", kinds, skews, strict=False)]
        self.hub = _Box("hub", folder, hub, skews[2])
        self.boxes = [*self.hosts, self.hub]
        self.conflicted: set[str] = set()
        self.reads: set[tuple[str, str]] = set()
        self.log: list[str] = []
        self._number = 0
        self._at = NOON

    def run(self) -> None:
        """Play the history, then mirror until nothing more is written. Raises AssertionError."""
        for _ in range(STEPS):
            step = self.chance.choice((self._write, self._write, self._write, self._mirror, self._mirror, self._cut))
            step()
        for box in self.boxes:
            box.is_cut_off = False
        for _ in range(3):
            for host in self.hosts:
                self._done(host)
        for host in self.hosts:
            status = self._done(host)
            mine = {each.id for each in status.conflicts}
            both = self.conflicted & host.messages.keys() & self.hub.messages.keys()
            assert both <= mine, f"{both - mine} are not reported"
            assert not any(end.run for end in status.ends), "it never comes to rest"
        self._check()

    def _write(self) -> None:
        box = self.chance.choice([box for box in self.boxes if not box.is_cut_off] or self.boxes[:1])
        was_cut_off, box.is_cut_off = box.is_cut_off, False
        self._at += self.chance.choice((0, 1, 60))
        known = sorted(box.messages)
        what = self.chance.choice(("message", "message", "message", "read", "agent", "damage", "conflict"))
        self.log.append(f"{what} in {box.name}")
        if what == "read" and known:
            pair = self.chance.choice(known), self.chance.choice(NAMES)
            box.read(*pair)
            self.reads.add(pair)
        elif what == "agent":
            self._agent(box)
        elif what == "damage":
            box.damage()
        elif what == "conflict" and known:
            others = [
                it for it in self.boxes if not it.is_cut_off and it is not box and known[-1] not in it.contents()[1]
            ]
            if others:
                self.conflicted.add(known[-1])
                self.chance.choice(others).message(self._fields(known[-1], box.skew, "Another text"))
        else:
            self._number += 1
            box.message(self._fields(f"m{self._number}", box.skew))
        box.is_cut_off = was_cut_off

    def _fields(self, message_id: str, skew: float, text: str = "Text") -> dict[str, Any]:
        fields: dict[str, Any] = {
            "id": message_id,
            "sender": self.chance.choice(NAMES),
            "recipient": self.chance.choice((*NAMES, "all", "user", "role:x")),
            "content": f"{text} {self.chance.random()}\nof {message_id}",
        }
        if self.chance.random() < 0.9:
            fields["timestamp"] = isoformat(self._at + skew)
        if self.chance.random() < 0.3:
            fields |= {"thread": f"m{self.chance.randint(1, 5)}", "subject": "A subject", "ttl_hours": 3}
        if self.chance.random() < 0.2:
            fields |= {"metadata": {"n": self.chance.random()}, "odd": "field", "type": "x", "tags": ["t"]}
        return fields

    def _agent(self, box: _Box) -> None:
        from mailstore.records.roster import Status

        status = self.chance.choice((Status.LIVING, Status.LIVING, Status.FROZEN))
        role, name = self.chance.choice(("", "x", "y")), self.chance.choice(NAMES)
        with _clock(self._at + box.skew):
            box.agent(session_id=name, role=role, status=status, activity=f"working: {self.chance.random()}")

    def _cut(self) -> None:
        box = self.chance.choice(self.boxes)
        box.is_cut_off = not box.is_cut_off
        self.log.append(f"{box.name} is {'cut off' if box.is_cut_off else 'back'}")

    def _done(self, host: _Box) -> MirrorStatus:
        pair = (host, self.hub) if self.chance.random() < 0.5 else (self.hub, host)
        return mirrored((pair[0].url, pair[1].url), (pair[0].open, pair[1].open))

    def _mirror(self) -> None:
        host = self.chance.choice(self.hosts)
        fault = self.chance.choice((None, None, "end", "end", "full", "race", "race"))
        self.log.append(f"mirror {host.name}, {fault}")
        if self.chance.random() < 0.1:
            with suppress(FileNotFoundError):
                shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]) / "signalbox")
        race = self._race if fault == "race" else None
        with suppress(MailError, _SuddenEnd), _faulty(fault, self.chance.randint(1, 12)), _raced(race):
            self._done(host)

    def _race(self) -> None:
        """Do what another mirror or program may do between the look of one at a mailbox and its writing."""
        others = Path(os.environ["XDG_STATE_HOME"]) / "elsewhere"
        with suppress(MailError), _state_folder(others):
            for _ in range(self.chance.randint(1, 2)):
                self.chance.choice((self._write, lambda: self._done(self.chance.choice(self.hosts))))()

    def _check(self) -> None:
        found = {box.name: box.contents() for box in self.boxes}
        every = {name for box in self.boxes for name in box.messages}
        for box in self.boxes:
            contents, texts = found[box.name]
            assert not contents.twins, f"{box.name}: {[each.id for each in contents.twins]} came twice"
            assert set(texts) == every, f"{box.name}: {every ^ set(texts)} are lost or came from nowhere"
            for name, text in box.messages.items():
                assert texts[name] == text, f"{box.name}: {name} was overwritten"
            reads = set(contents.receipts)
            assert {pair for pair in self.reads if pair[0] not in self.conflicted} <= reads, f"{box.name}: reads lost"
        first, *others = (found[box.name] for box in self.boxes)
        for contents, texts in others:
            for name in every - self.conflicted:
                assert texts[name] == first[1][name], f"{name} differs"
                assert _header(contents.messages[name]) == _header(first[0].messages[name]), f"{name} differs"
            assert {key for key in contents.receipts if key[0] not in self.conflicted} == {  # type: ignore[index]
                key
                for key in first[0].receipts
                if key[0] not in self.conflicted  # type: ignore[index]
            }, "reads differ"
            digests = {name: agent_digest(agent) for name, agent in contents.agents.items()}
            assert digests == {name: agent_digest(agent) for name, agent in first[0].agents.items()}, "rosters differ"


@contextmanager
def _raced(race: Callable[[], None] | None) -> Iterator[None]:
    """Let something happen just before a mailbox takes records in, once."""
    kinds: tuple[Any, ...] = (HaakStore, MemoryStore, NatsStore)
    reals = [kind.merge for kind in kinds]
    waiting = [race] if race is not None else []

    def raced(real: Any) -> Any:
        def merge(self: Any, records: Any) -> Any:
            if waiting:
                waiting.pop()()
            return real(self, records)

        return merge

    for kind, real in zip(kinds, reals, strict=True):
        kind.merge = raced(real)
    try:
        yield
    finally:
        for kind, real in zip(kinds, reals, strict=True):
            kind.merge = real


@contextmanager
def _state_folder(folder: Path) -> Iterator[None]:
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


def _header(message: Message) -> tuple[object, ...]:
    time = round(message.time, 3) if message.timed else None
    return message.sender, message.recipients, message.thread, message.subject, message.ttl_hours, message.type, time


@contextmanager
def _clock(now: float) -> Iterator[None]:
    real, time.time = time.time, lambda: now
    try:
        yield
    finally:
        time.time = real


@contextmanager
def _faulty(fault: str | None, number: int) -> Iterator[None]:
    """Let the mirror end suddenly before or after its Nth write, or find the disk full from there on."""
    real, calls = os.write, 0

    def write(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls < number:
            return real(fd, data)
        if fault == "end":
            if number % 2:
                real(fd, data)
            raise _SuddenEnd
        if calls == number:
            return real(fd, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fault in ("end", "full"):
        append.os.write = write  # type: ignore[assignment]
    try:
        yield
    finally:
        append.os.write = real


def played(number: int, server: str = "") -> None:
    """Play one history in folders of its own, with a hub on a server if one is named. Raises AssertionError."""
    with tempfile.TemporaryDirectory(prefix="history-") as folder, _state_folder(Path(folder) / "state"):
        history = History(number, Path(folder), server)
        try:
            history.run()
        except AssertionError as error:
            raise AssertionError(f"history {number}: {error}\n" + "\n".join(history.log)) from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--runs", type=int, default=10_000, metavar="N", help="how many histories")
    parser.add_argument("--nats", action="store_true", help="with a hub on a NATS server")
    parser.add_argument("--first", type=int, default=1, metavar="NUMBER", help="the first one")


def run(args: argparse.Namespace) -> int:
    """Play histories; say which went wrong."""
    wrong = 0
    with ExitStack() as stack:
        server = ""
        if args.nats:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nats-")))
            server = stack.enter_context(NatsServer(one_node(folder))).address
        for number in range(args.first, args.first + args.runs):
            try:
                played(number, server)
            except (AssertionError, MailError) as error:
                wrong += 1
                print(error, file=sys.stderr)
    print(f"{args.runs} histories, {wrong} wrong")
    return int(wrong > 0)
