"""Mailbox trees on several machines, and a server in memory between them that can fail in every way."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, RLock

from mailstore.kinds.agentazall.identity import Identity, public_of
from mailstore.kinds.agentazall.ledger import LedgerWay, ways_of
from mailstore.kinds.agentazall.rules import OPEN, Filter
from mailstore.kinds.agentazall.sync.engine import SyncEngine, SyncReport
from mailstore.kinds.agentazall.sync.plan import AccountPlan, AgentPlan, SyncPlan
from mailstore.kinds.agentazall.transports.transport import (
    IncomingMessage,
    MessageRefused,
    OutgoingMessage,
    Receiver,
    Transport,
)
from mailstore.kit.secure import TransportDown
from tests.kinds.agentazall.agentazall_harness import message_file

DAY = time.strftime("%Y-%m-%d")


class Office:
    """A server that keeps messages by address until they are deleted; `loses_ids` as the original program's do."""

    def __init__(self, name: str = "office", *, loses_ids: bool = False, is_destructive: bool = False) -> None:
        self.name = name
        self.loses_ids = loses_ids
        self.is_destructive = is_destructive
        self.boxes: dict[str, list[IncomingMessage]] = {}
        self.down = ""
        self.refuses: set[str] = set()
        self.ends_after_taking = False
        """The exchange ends when the message is taken, so that its sender can't know."""
        self.sent = 0
        self._lock = RLock()

    def take(self, message: OutgoingMessage, recipient: str) -> None:
        with self._lock:
            if self.down:
                raise TransportDown(self.down)
            if recipient in self.refuses:
                raise MessageRefused(f"{self.name} knows no {recipient}")
            self.sent += 1
            files = tuple((each.name, each.path.read_bytes()) for each in message.attachments)
            self.put(
                recipient,
                IncomingMessage(
                    key=f"{self.name}-{self.sent}",
                    sender=message.sender,
                    recipients=message.recipients,
                    copies=message.copies,
                    subject=message.subject,
                    date="" if self.loses_ids else message.date,
                    body=message.body,
                    id="" if self.loses_ids else message.id,
                    thread=message.thread,
                    arrived=time.time(),
                    attachments=files,
                ),
            )
            if self.ends_after_taking:
                raise TransportDown(f"{self.name} ended the exchange")

    def put(self, recipient: str, message: IncomingMessage) -> None:
        with self._lock:
            self.boxes.setdefault(recipient, []).append(message)


class PostTransport(Transport):
    """One account on an office."""

    kind = "ftp"

    def __init__(self, office: Office, address: str) -> None:
        self._office = office
        self._address = address

    @property
    def label(self) -> str:
        return f"post {self._address}@{self._office.name}"

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        self._office.take(message, recipient)

    def receive(self, receiver: Receiver) -> int:
        if self._office.down:
            raise TransportDown(self._office.down)
        fetched = 0
        for message in list(self._office.boxes.get(self._address, [])):
            if not receiver.knows(message.key):
                receiver.keep(message)
                fetched += 1
        return fetched


class Machine:
    """A tree of mailboxes with a sync of its own; `offices` are asked by every agent."""

    def __init__(self, folder: Path, *names: str, offices: tuple[Office, ...] = ()) -> None:
        self.root = folder / "data" / "mailboxes"
        self.names = names
        self.offices = offices
        self.filter: Filter = OPEN
        self.said: list[str] = []
        self.heard = Event()
        """Set when something was said."""
        self.addresses: dict[str, str] = {}
        self._number = 0
        for name in names:
            for box in ("inbox", "outbox", "sent"):
                (self.root / name / DAY / box).mkdir(parents=True)

    def plan(self, *, every_seconds: float = 10.0) -> SyncPlan:
        def opening(office: Office, name: str) -> Callable[[], Transport]:
            return lambda: PostTransport(office, name)

        agents = tuple(
            AgentPlan(
                name,
                tuple(AccountPlan("ftp", name, opening(each, name), self.addresses) for each in self.offices),
                self.filter,
            )
            for name in self.names
        )
        return SyncPlan(self.root, agents, every_seconds)

    def write(self, sender: str, to: str, body: str = "Hello", *, name: str = "", **more: str) -> Path:
        """Write a message into an outbox, as an agent does, a minute ago."""
        self._number += 1
        name = name or f"{self._number:012x}"
        header = {
            "From": sender,
            "To": to,
            "Subject": "A subject",
            "Date": time.strftime("%Y-%m-%d %H:%M:%S"),
            "Message-ID": name,
            "Status": "new",
            **{key.replace("_", "-"): value for key, value in more.items()},
        }
        path = self.root / sender / DAY / "outbox" / f"{name}.txt"
        path.write_bytes(message_file({key: value for key, value in header.items() if value}, body))
        _age(path)
        return path

    def attach(self, message: Path, name: str, data: bytes) -> None:
        folder = message.with_suffix("")
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)

    def identify(self, name: str, number: int) -> Identity:
        """Give an agent a key."""
        seed = bytes([number]) * 32
        (self.root / name / ".identity_key").write_text(f'{{"private_key_hex": "{seed.hex()}"}}')
        return Identity(seed, public_of(seed))

    def tell(self, line: str) -> None:
        self.said.append(line)
        self.heard.set()

    def once(self) -> SyncReport:
        with SyncEngine(self.plan(), self.tell) as engine:
            return engine.once()

    def files(self, agent: str, box: str) -> dict[str, str]:
        """Return the messages in a box, by day and stem."""
        return {
            f"{path.parts[-3]}/{path.stem}": path.read_text()
            for path in sorted((self.root / agent).glob(f"*/{box}/*.txt"))
        }

    def bodies(self, agent: str, box: str = "inbox") -> list[str]:
        return sorted(text.partition("\n---\n")[2] for text in self.files(agent, box).values())

    def ways(self, message_id: str) -> tuple[LedgerWay, ...]:
        return ways_of(self.root, message_id)

    def remove(self) -> None:
        shutil.rmtree(self.root)


def _age(path: Path) -> None:

    os.utime(path, (time.time() - 60, time.time() - 60))
