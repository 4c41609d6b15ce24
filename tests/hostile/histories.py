"""Random histories of two hosts' files and a hub between them, mirrored with sudden ends, full disks and cut-offs.

In the end all three hold the same: nothing is lost, nothing comes twice, what was damaged is as it was, and an id that
stands for two messages stands for both, each where it was written. Each history is told by its number alone:
`python -m tests.hostile histories --first NUMBER --runs 1` is the same again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from mailstore.errors import MailError
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kit.known_records import agent_digest
from mailstore.kit.timestamps import isoformat
from mailstore.mirroring.mirror import Mirror, MirrorPauses, MirrorReports
from mailstore.mirroring.mirror_report import MirrorStatus
from mailstore.mirroring.mirror_state import MirrorState
from mailstore.records.message import Message
from mailstore.records.roster import Status
from mailstore.store import Store
from tests.hostile.history_box import HistoryBox
from tests.hostile.mirror_faults import SuddenEnd, clock_at, faulty, raced_by, state_folder
from tests.servers.nats_configs import one_node

NOON = 1_773_662_400.0
HOUR = 3600.0
NAMES = ("ann-00000001", "bob-00000001", "cyd-00000001")
STEPS = 14


def mirrored(
    urls: tuple[str, str], opened: tuple[Callable[[], Store], Callable[[], Store]], *, is_both: bool = True
) -> MirrorStatus:
    """Mirror two mailboxes once. Raises MailError."""
    with MirrorState.held(*urls) as state:
        telling = MirrorReports(lambda words, done, total: None, lambda status: None)
        mirror = Mirror(urls, opened, state, telling, is_both=is_both, pauses=MirrorPauses(0.01, 0.1, 2.0))
        asyncio.run(mirror.run(once=True))
    return mirror.status


class History:
    """One random history, told by its number."""

    def __init__(self, number: int, folder: Path, server: str = "") -> None:
        self.chance = random.Random(number)
        kinds = [self.chance.choice(("haak", "haak", "document")) for _ in range(2)]
        hub = self.chance.choice(("memory", "haak"))
        if server:
            hub = f"nats://{server}/history-{number}"
        skews = [self.chance.choice((0.0, HOUR, -HOUR)) for _ in range(3)]
        self.hosts = [
            HistoryBox(name, folder, kind, skew) for name, kind, skew in zip("ab", kinds, skews, strict=False)
        ]
        self.hub = HistoryBox("hub", folder, hub, skews[2])
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

    def _agent(self, box: HistoryBox) -> None:
        status = self.chance.choice((Status.LIVING, Status.LIVING, Status.FROZEN))
        role, name = self.chance.choice(("", "x", "y")), self.chance.choice(NAMES)
        with clock_at(self._at + box.skew):
            box.agent(session_id=name, role=role, status=status, activity=f"working: {self.chance.random()}")

    def _cut(self) -> None:
        box = self.chance.choice(self.boxes)
        box.is_cut_off = not box.is_cut_off
        self.log.append(f"{box.name} is {'cut off' if box.is_cut_off else 'back'}")

    def _done(self, host: HistoryBox) -> MirrorStatus:
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
        with suppress(MailError, SuddenEnd), faulty(fault, self.chance.randint(1, 12)), raced_by(race):
            self._done(host)

    def _race(self) -> None:
        """Do what another mirror or program may do between the look of one at a mailbox and its writing."""
        others = Path(os.environ["XDG_STATE_HOME"]) / "elsewhere"
        with suppress(MailError), state_folder(others):
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


def _header(message: Message) -> tuple[object, ...]:
    time = round(message.time, 3) if message.timed else None
    return message.sender, message.recipients, message.thread, message.subject, message.ttl_hours, message.type, time


def played(number: int, server: str = "") -> None:
    """Play one history in folders of its own, with a hub on a server if one is named. Raises AssertionError."""
    with tempfile.TemporaryDirectory(prefix="history-") as folder, state_folder(Path(folder) / "state"):
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
