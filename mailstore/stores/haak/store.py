"""The HAAK mailbox: lines of JSON in a folder (seed protocol, formats/haak.md)."""

from __future__ import annotations

import gzip
import os
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec

from mailstore.errors import ContentGone, MailboxMissing, StoreError
from mailstore.events import Event
from mailstore.files.append import append_lines, refusal
from mailstore.files.lines import Line
from mailstore.message import Intervention, Message
from mailstore.roster import Agent
from mailstore.store import Capabilities, Store
from mailstore.stores.haak.decode import MessageDecoder, NotAMessage, content_of, loads, objects
from mailstore.stores.haak.places import MAILBOX, Places, find
from mailstore.stores.haak.reader import Reader

if TYPE_CHECKING:
    from mailstore.draft import Draft

__all__ = ["HaakStore"]


class HaakStore(Store):
    """One mailbox file, and beside it reads, deliveries, roster, oversight journal and archive."""

    kind: ClassVar[str] = "haak"
    summary: ClassVar[str] = (
        "JSON lines in data/agent-mailbox.jsonl, with roster, reads and archive beside it"
    )
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, places: Places, *, poll: bool = False) -> None:
        self._places = places
        self._poll = poll
        self._reader = Reader(places)
        self._scanning: Iterator[list[Event]] | None = None

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Say whether a mailbox file lies at a path, or in it, or in its `data` folder."""
        places = find(path)
        return places is not None and (places.mailbox.name == MAILBOX or _looks_like_mail(places.mailbox))

    @classmethod
    def open(cls, path: Path, *, poll: bool = False) -> Self:
        """Open the mailbox at a path; raises MailboxMissing."""
        places = find(path)
        if places is None:
            raise MailboxMissing(
                f"there is no {MAILBOX} at {path}", "make one with signalbox init, or try signalbox demo"
            )
        return cls(places, poll=poll)

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make an empty mailbox and roster in a folder's `data`, or in a folder of that name."""
        places = find(path)
        if places is None:
            folder = path if path.name == "data" else path / "data"
            places = Places(folder.absolute() / MAILBOX)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                for file in (places.mailbox, places.roster_lines):
                    if not places.roster_document.exists() or file is places.mailbox:
                        file.touch(exist_ok=True)
            except OSError as error:
                raise refusal(places.mailbox, error) from error
        return cls(places)

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._places.mailbox.resolve()}"

    @property
    def title(self) -> str:
        mailbox = self._places.mailbox
        return os.path.join(mailbox.parent.name, mailbox.name)  # noqa: PTH118 - a name to show, no path to open

    @property
    def places(self) -> Places:
        """Return the files that this mailbox is made of."""
        return self._places

    def scan(self) -> Iterator[list[Event]]:
        """Yield all there is: the roster, the newest mail, then the rest."""
        if self._scanning is None:
            self._scanning = self._reader.scan()
        for batch in self._scanning:  # noqa: UP028 - `yield from` would end the scan with its first reader
            yield batch

    async def changes(self) -> AsyncIterator[list[Event]]:
        """Yield what came since the last batch handed out; what a scan left over comes first."""
        import asyncio

        from mailstore.files.watch import wakeups

        if self._scanning is None:
            self._scanning = self._reader.scan()
        while (batch := await asyncio.to_thread(next, self._scanning, None)) is not None:
            yield batch
        async with aclosing(wakeups(self._places.folder, poll=self._poll)) as woken:
            async for _ in woken:
                try:
                    events = await asyncio.to_thread(self._reader.changes)
                except OSError as error:
                    raise StoreError(f"{self.title} can't be read", error.strerror or str(error)) from error
                if events:
                    yield events

    def content(self, message: Message) -> str:
        """Return a message's body, read from its place in the file. Raises ContentGone."""
        return content_of(loads(self.raw(message)))

    def raw(self, message: Message) -> bytes:
        """Return a message's record as it stands in the file. Raises ContentGone."""
        where = message.location
        if where is None:
            raise ContentGone(f"message {message.id} stands in no file")
        path = self._places.folder / where.file
        try:
            if path.suffix == ".gz":
                with gzip.open(path) as unpacked:
                    unpacked.seek(where.offset)
                    data = unpacked.read(where.length)
            else:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    data = os.pread(fd, where.length, where.offset)
                finally:
                    os.close(fd)
        except (OSError, EOFError) as error:
            raise ContentGone(f"{where.file} can't be read", "was it moved or archived?") from error
        if not self._is_that(message, data):
            raise ContentGone(
                f"{where.file} no longer has this message at {where.offset:,}", "it was replaced"
            )
        return data

    def _is_that(self, message: Message, data: bytes) -> bool:
        where = message.location
        if where is None or len(data) != where.length:
            return False
        found, _ = MessageDecoder(where.file).decode(Line(where.offset, data), 0)
        return bool(found) and found[0].id == message.id

    def send(self, draft: Draft) -> Message:
        """Append a message in the dialect of the file, and its audience to the deliveries."""
        from mailstore.stores.haak.writer import dialect_of, message_line, write_deliveries

        self._require()
        now = time.time()
        message_id = str(uuid.uuid4())
        try:
            line = message_line(draft, message_id, now, dialect_of(self._places.mailbox))
        except OSError as error:
            raise refusal(self._places.mailbox, error) from error
        offset = append_lines(self._places.mailbox, [line])
        write_deliveries(self._places, message_id, draft.audience, now)
        found, _ = MessageDecoder(self._places.mailbox.name).decode(Line(offset, line), 0)
        return found[0]

    def mark_read(self, reader: str, message_ids: Sequence[str]) -> int:
        """Record that a reader has read just these messages; return how many records were written."""
        from mailstore.stores.haak.writer import write_reads

        self._require()
        try:
            return write_reads(self._places, reader, message_ids, time.time())
        except OSError as error:
            raise refusal(self._places.reads, error) from error

    def update_agent(self, agent: Agent) -> None:
        """Register an agent, or change what the roster says of it."""
        from mailstore.stores.haak.writer import update_roster

        self._require()
        try:
            update_roster(self._places, agent, time.time())
        except (OSError, msgspec.DecodeError) as error:
            raise StoreError("the roster can't be changed", str(error)) from error

    def record(self, intervention: Intervention) -> None:
        """Append to the oversight journal."""
        from mailstore.stores.haak.writer import write_intervention

        self._require()
        write_intervention(self._places, intervention)

    def _require(self) -> None:
        if not self._places.mailbox.exists():
            raise MailboxMissing(f"{self._places.mailbox} is gone", "was the mailbox moved?")


def _looks_like_mail(path: Path) -> bool:
    """Say whether a file's first lines are messages."""
    decoder = MessageDecoder(path.name)
    try:
        with path.open("rb") as file:
            lines = [file.readline(1 << 20) for _ in range(3)]
    except OSError:
        return False
    for data in lines:
        try:
            if data.strip() and any(
                decoder.decode(part, 0)[0] for part in objects(Line(0, data.rstrip(b"\n")))[0]
            ):
                return True
        except NotAMessage:
            continue
    return False
