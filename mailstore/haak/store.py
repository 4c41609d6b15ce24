"""The store for HAAK mailboxes: JSON lines in a folder (docs/formats/haak.md)."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Self

from msgspec import MsgspecError

from mailstore.errors import ContentGone, MailboxMissing, StoreError, reason_of
from mailstore.files.append import refusal
from mailstore.files.lines import Broken, Line, Replaced, read_packed
from mailstore.files.whole import open_binary, open_regular
from mailstore.haak.places import MAILBOX, MailboxFiles, find, new
from mailstore.haak.reader import Reader
from mailstore.haak_records.decode import MessageDecoder, content_in
from mailstore.haak_records.usual import UsualMessages
from mailstore.haak_records.values import MESSAGE_FIELDS
from mailstore.kit.locating import unreadable
from mailstore.kit.watched_store import WatchedStore
from mailstore.location import path_of
from mailstore.records.events import Event
from mailstore.records.extra_fields import extra_text
from mailstore.records.message import Intervention, Location, Message
from mailstore.records.roster import Agent
from mailstore.resumable import Resumable, Stale
from mailstore.state.mailbox import Mailbox
from mailstore.store import WatchedPaths

if TYPE_CHECKING:
    from mailstore.haak.search.candidates import Candidates
    from mailstore.haak.write.merging import HaakMerger
    from mailstore.records.adopted import Adopted, Merged
    from mailstore.records.draft import Draft
    from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, LateWriter, Tell

FIRST_LINES = 3
LONGEST_LOOK = 1 << 20
FAR = 1 << 22
"""Bytes that came since the mailbox was kept, from which on it is kept anew."""
LONG = 1 << 23
"""Bytes: about seven thousand messages with their reads, which fold in a third of a second."""
FOREIGN = b'"createdAt":'
"""The time field of another program, whose lines are otherwise similar."""


class HaakStore(WatchedStore, Resumable):
    """One mailbox file, with reads, deliveries, roster, oversight journal and archive beside it."""

    kind: ClassVar[str] = "haak"
    summary: ClassVar[str] = "JSON lines in data/agent-mailbox.jsonl, with roster, reads and archive beside it"
    can_merge: ClassVar[bool] = True
    copies_files: ClassVar[bool] = True
    known_fields: ClassVar[frozenset[str]] = MESSAGE_FIELDS

    def __init__(self, places: MailboxFiles, *, poll: bool = False) -> None:
        self._files = Reader(places)
        super().__init__(self._files, places.folder, poll=poll)
        self._places = places
        self._candidates: Candidates | None = None
        self._merger: HaakMerger | None = None
        self._merging = Lock()

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Return whether there is a mailbox file at a path, in it, or in its `data` folder."""
        try:
            places = find(path)
            return places is not None and (places.mailbox.name == MAILBOX or _looks_like_mail(places.mailbox))
        except OSError:
            return False

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open the mailbox at a path; raises MailboxMissing, and StoreError where it can't be looked for."""
        path = path_of(location)
        try:
            places = find(path)
            if places is not None:
                return cls(places, poll=poll)
        except OSError as error:
            raise unreadable(path, error) from error
        raise MailboxMissing(f"no {MAILBOX} at {path}", "make one with signalbox init, or try signalbox demo", "E292")

    @classmethod
    def create(cls, location: str | Path) -> Self:
        """Create an empty mailbox and roster; existing files stay as they are.

        That is in `data` under a folder, in a folder named `data`, in one that holds files of agents already,
        or at a path that ends in .jsonl. Raises StoreError.
        """
        path = path_of(location)
        try:
            places = find(path)
            if places is not None:
                if not cls.recognise(path) and places.mailbox.stat().st_size:
                    raise StoreError(
                        f"{path} is not a mailbox", "its first lines are not messages; choose another path", "E293"
                    )
                return cls(places)
            places = new(path)
            places.folder.mkdir(parents=True, exist_ok=True)
            places.mailbox.touch()
            if not places.roster_document.exists():
                places.roster_lines.touch()
        except OSError as error:
            raise refusal(path, error) from error
        return cls(places)

    @property
    def url(self) -> str:
        return f"{self.kind}:{self._places.folder.resolve() / self._places.mailbox.name}"

    @property
    def title(self) -> str:
        mailbox = self._places.mailbox
        return os.path.join(mailbox.parent.name, mailbox.name)  # noqa: PTH118 - a name to show, no path to open

    def watched(self) -> WatchedPaths:
        at = self._places
        mail = at.mailbox, at.roster_lines, at.roster_document, at.deliveries
        other = at.reads, at.journal, at.archive, at.folder
        return WatchedPaths(tuple(map(str, mail)), tuple(map(str, other)), is_exact=True)

    def is_long(self) -> bool:
        """Return whether there is so much mail that reading it takes a while."""
        sizes = 0
        with suppress(OSError):  # reading says why
            for path in (self._places.mailbox, self._places.reads, *self._places.months()):
                with suppress(FileNotFoundError):
                    sizes += path.stat().st_size
        return sizes >= LONG

    def glimpse(self) -> list[Event]:
        try:
            return Reader(self._places).glimpse()
        except OSError as error:
            raise unreadable(self.folder, error) from error

    def fold_all(self, mailbox: Mailbox, now: float) -> None:
        self._skip()
        try:
            self._files.fold_all(mailbox, now)
        except OSError as error:
            raise unreadable(self.folder, error) from error

    def position(self) -> bytes:
        return self._files.position()

    def resume(self, position: bytes) -> list[Event]:
        self._skip()
        try:
            return self._files.resume(position)
        except (Replaced, MsgspecError, OSError) as reason:
            raise Stale(reason_of(reason)) from reason

    def has_grown(self) -> bool:
        return self._files.grown > FAR

    def note(self, mailbox: Mailbox, folder: Path) -> None:
        """Write an index for hooks. Raises OSError."""
        from mailstore.haak.bulk.mail_index import write_index

        mail, reads = self._files.places()
        if mail is not None:
            write_index(mailbox.contents, self._places.mailbox.name, mail, reads, folder)

    def begin_anew(self) -> None:
        self._files.begin()
        self._rewind()

    def confirm(self) -> None:
        try:
            self._files.confirm()
        except (Replaced, OSError) as reason:
            raise Stale(reason_of(reason)) from reason

    def below(self) -> list[str]:
        archive = self._places.archive.name
        return [archive, f"{archive}/{self._places.retired.name}"]

    def content(self, message: Message) -> str:
        return content_in(self.raw(message))

    def search_text(self, message: Message) -> str:
        """Return a message's body and the values of unknown fields, from one read. Raises ContentGone."""
        data = self.raw(message)
        extra = extra_text(data, self.known_fields)
        return f"{content_in(data)}\n{extra}" if extra else content_in(data)

    def contents(self, messages: Iterable[Message]) -> Iterator[str | ContentGone]:
        """Yield the bodies of many messages, each file opened once."""
        return _contents(self._places.folder, messages, super().contents)

    def raw(self, message: Message) -> bytes:
        where = message.location
        if where is None:
            raise ContentGone(f"message {message.id} is in no file", "check whether it was moved or deleted", "E308")
        try:
            data = _bytes_at(self._places.folder / where.file, where)
        except (OSError, Broken) as error:
            raise ContentGone(
                f"{where.file} can't be read", "check whether it was moved or archived", "E275"
            ) from error
        messages, _ = MessageDecoder(where.file).decode(Line(where.offset, data), 0)
        if len(data) != where.length or [each.id for each in messages] != [message.id]:
            raise ContentGone(
                f"{where.file} no longer has this message at {where.offset:,}",
                "it was replaced; signalbox doctor checks what is there now",
                "E312",
            )
        return data

    def candidates(self, words: Sequence[str]) -> Generator[list[str]] | None:
        return self._hints().of(words)

    def keep_index(self, folder: Path) -> None:
        self._hints().keep_index(folder)

    def close(self) -> None:
        """Release open files and the process that builds an index."""
        super().close()
        if self._candidates is not None:
            self._candidates.close()

    def _hints(self) -> Candidates:
        from mailstore.haak.search.candidates import Candidates

        self._candidates = self._candidates or Candidates(self._places)
        return self._candidates

    def write_message(self, draft: Draft) -> Message:
        """Append a message in the file's dialect, and its audience to the deliveries."""
        from mailstore.haak.write.writer import write_message

        self._recover()
        try:
            return write_message(self._places, draft, str(uuid.uuid4()), time.time())
        except OSError as error:
            raise refusal(self._places.mailbox, error) from error

    def write_reads(self, reader: str, message_ids: Sequence[str]) -> int:
        from mailstore.haak.write.writer import write_reads

        self._recover()
        try:
            return write_reads(self._places, reader, message_ids, time.time())
        except OSError as error:
            raise refusal(self._places.reads, error) from error

    def write_agent(self, agent: Agent) -> None:
        from mailstore.haak.write.roster_writer import update_roster

        self._recover()
        try:
            update_roster(self._places, agent, time.time())
        except OSError as error:
            raise refusal(self._places.roster_lines, error) from error

    def write_intervention(self, intervention: Intervention) -> None:
        from mailstore.haak.write.writer import write_intervention

        self._recover()
        write_intervention(self._places, intervention)

    def write_archive(
        self, plan: ArchivePlan, *, progress: Tell | None, is_cancelled: IsCancelled | None
    ) -> ArchiveReport:
        """Move a plan's messages into the files of their months, after recovering interrupted runs."""
        from mailstore.haak.archive.archiver import carry_out

        try:
            return carry_out(self._places, plan, progress, is_cancelled)
        except OSError as error:
            raise refusal(self._places.archive, error) from error

    def copy_files(self, source: Self) -> None:
        from mailstore.haak.write.copying import copy_files

        try:
            copy_files(source._places, self._places)
        except OSError as error:
            raise refusal(self._places.mailbox, error) from error

    def write_adopted(self, records: Iterable[Adopted]) -> None:
        from mailstore.haak.write.adopt import adopt

        try:
            adopt(self._places, records)
        except OSError as error:
            raise refusal(self._places.mailbox, error) from error

    def merge(self, records: Sequence[Adopted]) -> Merged:
        from mailstore.haak.write.merging import HaakMerger

        self._recover()
        with self._merging:
            self._merger = self._merger or HaakMerger(self._places)
            try:
                return self._merger.merge(records)
            except OSError as error:
                raise refusal(self._places.mailbox, error) from error

    def late_writers(self) -> list[LateWriter]:
        """Return the programs that have the mailbox file, or a retired one, open for writing."""
        from mailstore.files.holders import writers
        from mailstore.rules.archive_plan import LateWriter

        folder = self._places.folder
        return [
            LateWriter(writer.program, writer.pid, str(writer.file.relative_to(folder)))
            for writer in writers([self._places.mailbox, *self._places.retired_files()])
        ]

    def archive_file(self, month: str) -> str:
        return f"{self._places.archive.name}/{month}.jsonl"

    def _recover(self) -> None:
        """Recover interrupted archivals; a failure doesn't affect the write."""
        with suppress(OSError, StoreError):
            if not self._places.archive.is_dir() and not self._places.set_aside():
                return
            from mailstore.haak.archive.recovery import needs_recovery, recover

            if needs_recovery(self._places):
                for _ in recover(self._places):
                    pass


def _bytes_at(path: Path, where: Location) -> bytes:
    """Return the bytes at a location in a file, packed or not. Raises OSError and Broken."""
    if path.suffix == ".gz":
        return read_packed(path, where.offset, where.length)
    fd = open_regular(path)
    try:
        return os.pread(fd, where.length, where.offset)
    finally:
        os.close(fd)


def _contents(
    folder: Path, messages: Iterable[Message], closely: Callable[[list[Message]], Iterator[str | ContentGone]]
) -> Iterator[str | ContentGone]:
    """Yield the bodies of messages in files of a folder; `closely` reads the unusual ones."""
    usual = UsualMessages()
    with ExitStack() as opened:
        files: dict[str, int] = {}
        for message in messages:
            try:
                data = _whole_bytes(message, folder, files, opened)
                record = usual.one(data) if data else None
                content = record.content if record is not None and record.id == message.id else ""
            except OSError:
                content = ""
            if content:
                yield content
            else:
                yield from closely([message])


def _whole_bytes(message: Message, folder: Path, files: dict[str, int], opened: ExitStack) -> bytes:
    """Return the record of a message, empty if it isn't where it was. Raises OSError."""
    where = message.location
    if where is None or where.file.endswith(".gz"):
        return b""
    fd = files.get(where.file)
    if fd is None:
        fd = files[where.file] = open_regular(folder / where.file)
        opened.callback(os.close, fd)
    data = os.pread(fd, where.length, where.offset)
    return data if len(data) == where.length else b""


def _looks_like_mail(path: Path) -> bool:
    """Return whether one of a file's first lines is a message of this protocol."""
    decoder = MessageDecoder(path.name)
    with open_binary(path) as file:
        lines = [file.readline(LONGEST_LOOK).rstrip(b"\n") for _ in range(FIRST_LINES)]
    return any(decoder.decode(Line(0, data), 0)[0] for data in lines if data and FOREIGN not in data)
