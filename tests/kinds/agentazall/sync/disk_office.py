"""A server whose messages lie in files, so that it outlives a client that is killed."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path

import msgspec

from mailstore.kinds.agentazall.transports.transport import IncomingMessage, OutgoingMessage, Receiver, Transport

MESSAGES = msgspec.json.Decoder(list[IncomingMessage])


class DiskTransport(Transport):
    """An account on a server in a folder; a `relay` deletes what it has handed out."""

    def __init__(self, folder: Path, address: str, kind: str) -> None:
        self.kind = kind
        self._folder = folder
        # a relay knows agents without their domain
        self._address = address.removesuffix("@localhost") if kind == "relay" else address

    @property
    def label(self) -> str:
        return f"{self.kind} {self._address}"

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        box = self._folder / recipient
        box.mkdir(parents=True, exist_ok=True)
        number = next(
            each for each in count(1) if not (box / f"{each}.json").exists() and not (box / f"{each}.gone").exists()
        )
        found = IncomingMessage(
            key=f"{number}_{message.sender}_{message.id[:8]}",
            sender=message.sender,
            recipients=message.recipients,
            subject=message.subject,
            date=message.date,
            body=message.body,
            id=message.id,
            arrived=time.time(),
            attachments=tuple((each.name, each.path.read_bytes()) for each in message.attachments),
        )
        new = box / f"{number}.new"
        new.write_bytes(msgspec.json.encode(found))
        new.rename(box / f"{number}.json")

    def receive(self, receiver: Receiver) -> int:
        found = sum(self._take_in(receiver, path) for path in receiver.spooled()) if self.kind == "relay" else 0
        files = sorted((self._folder / self._address).glob("*.json"))
        if self.kind != "relay":
            return found + self._keep(receiver, [path.read_bytes() for path in files])
        if files:
            spooled = receiver.spool(b"[" + b",".join(path.read_bytes() for path in files) + b"]")
            for path in files:
                path.rename(path.with_suffix(".gone"))
            found += self._take_in(receiver, spooled)
        return found

    def _take_in(self, receiver: Receiver, path: Path) -> int:
        messages = MESSAGES.decode(path.read_bytes())
        for message in messages:
            receiver.keep(message)
        receiver.unspool(path)
        return len(messages)

    def _keep(self, receiver: Receiver, messages: list[bytes]) -> int:
        found = [msgspec.json.decode(data, type=IncomingMessage) for data in messages]
        new = [each for each in found if not receiver.knows(each.key)]
        for each in new:
            receiver.keep(each)
        return len(new)
