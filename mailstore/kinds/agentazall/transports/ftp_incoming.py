"""Fetch messages from an agent's folder on an FTP server, each when it is complete; nothing there is changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import NamedTuple

from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, is_partial, parse
from mailstore.kinds.agentazall.names import addresses, bare
from mailstore.kinds.agentazall.transports.ftp_session import Entry, FtpSession, TooLarge
from mailstore.kinds.agentazall.transports.transport import BLOCKED, MOST_BYTES, IncomingMessage, Receiver, unexpected

DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
RECENT_DAYS = 3
ALL_DAYS_SECONDS = 300.0
"""How often all days are looked at: a message that waited long goes to the day on which it was written."""
SETTLE_SECONDS = 2.0
"""How long an unsigned message of the original program must not grow."""
PATIENCE_SECONDS = 120.0
"""How long to wait for attachments that the header lists."""
OLD = timedelta(hours=2)
"""The age at which an upload is over, whatever is missing; more than clocks differ."""
MOST_ATTACHMENTS = 1000
EXCERPT = 4096


class NotKept(Exception):
    """The receiver could not keep a message: its OSError is the cause, and no fault of the server."""


class _Found(Enum):
    TAKEN = auto()
    TURNED_AWAY = auto()
    INCOMPLETE = auto()


class _Sight(NamedTuple):
    """What was seen of an incomplete message, and since when it is so (monotonic)."""

    shape: object
    since: float


class _Spot(NamedTuple):
    """A message's place: its day, the entry, and its key."""

    day: str
    entry: Entry
    has_folder: bool

    @property
    def key(self) -> str:
        return f"{self.day}/{self.entry.name}"


class FtpInbox:
    """An agent's folder; `lend` gives the session of the moment, a new one after one was abandoned."""

    def __init__(self, folder: str, lend: Callable[[], FtpSession]) -> None:
        self._folder = folder
        self._lend = lend
        self._sights: dict[str, _Sight] = {}
        self._all_days_at: float | None = None

    def take_in(self, receiver: Receiver) -> int:
        """Give what is complete to the receiver; return how many messages. Raises OSError, ftplib.Error, TooLarge."""
        looked = [(spot, self._look(receiver, spot)) for day in self._days() for spot in self._spots(receiver, day)]
        taken = sum(result is _Found.TAKEN for _, result in looked)
        waiting = [spot for spot, result in looked if result is _Found.INCOMPLETE]
        now = time.monotonic()
        if fresh := [spot for spot in waiting if now - self._sights[spot.key].since < SETTLE_SECONDS]:
            time.sleep(SETTLE_SECONDS)
            again = [spot._replace(entry=Entry(spot.entry.name, changed=spot.entry.changed)) for spot in fresh]
            taken += sum(self._look(receiver, spot) is _Found.TAKEN for spot in again)
        return taken

    def _days(self) -> list[str]:
        """Return the days to look at, newest first."""
        names = self._lend().names(self._folder) or []
        days = sorted({entry.name for entry in names if DAY.fullmatch(entry.name)}, reverse=True)
        now = time.monotonic()
        if self._all_days_at is not None and now - self._all_days_at < ALL_DAYS_SECONDS:
            return days[:RECENT_DAYS]
        self._all_days_at = now
        return days

    def _spots(self, receiver: Receiver, day: str) -> list[_Spot]:
        """Return the messages of a day that are not known, oldest first; turn names away that no file may have."""
        entries = self._lend().names(f"{self._folder}/{day}/inbox") or []
        names = {each.name for each in entries}
        spots: list[_Spot] = []
        for entry in sorted(entries, key=lambda each: (each.changed or "", each.name)):
            if not entry.name.endswith(".txt") or entry.is_folder:
                continue
            spot = _Spot(day, entry, entry.name[:-4] in names)
            if not _is_file_name(entry.name):
                spot = spot._replace(entry=Entry(repr(entry.name)[:EXCERPT]))
                if not receiver.knows(spot.key):
                    receiver.turn_away(spot.key, "a name that no file may have")
            elif not receiver.knows(spot.key):
                spots.append(spot)
        return spots

    def _look(self, receiver: Receiver, spot: _Spot) -> _Found:
        try:
            result = self._judge(receiver, spot)
        except TooLarge:
            # what follows would be the rest of it
            self._lend().abandon()
            result = _turn_away(receiver, spot, f"larger than {MOST_BYTES >> 20} MiB")
        if result is not _Found.INCOMPLETE:
            self._sights.pop(spot.key, None)
        return result

    def _judge(self, receiver: Receiver, spot: _Spot) -> _Found:
        session, path = self._lend(), f"{self._folder}/{spot.day}/inbox/{spot.entry.name}"
        size = session.size(path) if spot.entry.size is None else spot.entry.size
        if size is not None and size > MOST_BYTES:
            return _turn_away(receiver, spot, f"larger than {MOST_BYTES >> 20} MiB")
        data = session.fetch(path, MOST_BYTES)
        if data is None or (size is not None and size != len(data)):
            return self._wait(spot, size)
        try:
            message = parse(data)
        except InvalidSignedFile as error:
            if not self._is_over(spot, path, (len(data),)):
                return self._wait(spot, (len(data),))
            return _turn_away(receiver, spot, str(error), data)
        except Exception as error:
            return _turn_away(receiver, spot, unexpected(error), data)
        sender = bare(message.get("From"))
        if b"\n---" in data and not receiver.admits(sender):
            return _turn_away(receiver, spot, f"{BLOCKED} {sender}", data, sender)
        return self._complete(receiver, spot, path, data, message)

    def _complete(self, receiver: Receiver, spot: _Spot, path: str, data: bytes, signed: SignedFile) -> _Found:
        """Keep a message with its attachments if all is there."""
        length = _length_of(signed)
        is_whole = length == len(signed.body.encode("utf-8", "surrogateescape")) if length is not None else None
        listed = [part.strip() for part in signed.get("Attachments").split(",") if part.strip()]
        entries = self._lend().names(path.removesuffix(".txt")) if spot.has_folder or listed else None
        beside = [entry for entry in entries or [] if not entry.is_folder and _is_file_name(entry.name)]
        if len(beside) > MOST_ATTACHMENTS:
            return _turn_away(receiver, spot, f"more than {MOST_ATTACHMENTS} attachments", data)
        sizes = tuple((entry.name, self._size(path, entry)) for entry in beside)
        shape = (len(data), sizes)
        is_still = self._is_still(spot, shape, SETTLE_SECONDS)
        if is_whole is None:
            is_whole = not is_partial(data) and (b"---BEGIN AGENTAZALL SIGNED" in data or is_still)
        names = {name for name, _ in sizes}
        # a name with a comma can't be told from two
        is_missing = not names.issuperset(listed) and not any("," in name for name in names)
        is_missing = is_missing and not self._is_still(spot, shape, PATIENCE_SECONDS)
        is_growing = length is None and bool(beside) and not is_still
        if (not is_whole or is_missing or is_growing) and not self._is_over(spot, path, shape):
            return self._wait(spot, shape)
        files = self._files(path, sizes, MOST_BYTES - len(data))
        if files is None:
            return self._wait(spot, shape)
        try:
            message = _message_in(spot.key, signed, files)
        except Exception as error:
            return _turn_away(receiver, spot, unexpected(error), data)
        try:
            receiver.keep(message)
        except OSError as error:
            raise NotKept from error
        return _Found.TAKEN

    def _size(self, path: str, entry: Entry) -> int | None:
        if entry.size is not None:
            return entry.size
        return self._lend().size(f"{path.removesuffix('.txt')}/{entry.name}")

    def _files(self, path: str, sizes: tuple[tuple[str, int | None], ...], room: int) -> list[tuple[str, bytes]] | None:
        """Return the attachments, None if one can't be had yet. Raises TooLarge if all are larger than `room`."""
        files = []
        for name, size in sizes:
            data = self._lend().fetch(f"{path.removesuffix('.txt')}/{name}", max(room, 0))
            if data is None or (size is not None and len(data) != size):
                return None
            room -= len(data)
            files.append((name, data))
        return files

    def _wait(self, spot: _Spot, shape: object) -> _Found:
        """Remember how far a message has come."""
        before = self._sights.get(spot.key)
        if before is None or before.shape != shape:
            self._sights[spot.key] = _Sight(shape, time.monotonic())
        return _Found.INCOMPLETE

    def _is_still(self, spot: _Spot, shape: object, seconds: float) -> bool:
        """Return whether nothing has changed for so long."""
        before = self._sights.get(spot.key)
        return before is not None and before.shape == shape and time.monotonic() - before.since >= seconds

    def _is_over(self, spot: _Spot, path: str, shape: object) -> bool:
        """Return whether the upload has ended: by the server's clock the file is old, and it does not change."""
        if not self._is_still(spot, shape, SETTLE_SECONDS):
            return False
        changed = spot.entry.changed or self._lend().changed(path) or ""
        try:
            moment = datetime.strptime(changed[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            return self._is_still(spot, shape, OLD.total_seconds())
        return datetime.now(UTC) - moment > OLD


def _turn_away(receiver: Receiver, spot: _Spot, reason: str, data: bytes = b"", sender: str = "") -> _Found:
    receiver.turn_away(spot.key, reason, data[:EXCERPT], sender)
    return _Found.TURNED_AWAY


def _is_file_name(name: str) -> bool:
    return (
        name not in (".", "..")
        and name.isprintable()
        and not {"/", "\\"}.intersection(name)
        and len(name.encode("utf-8", "surrogateescape")) <= 255
    )


def _length_of(signed: SignedFile) -> int | None:
    """Return the length of the body that the header tells; None without one."""
    lines = [value for name, value in signed.lines if name == "Content-Length"]
    return int(lines[-1]) if lines and lines[-1].isdecimal() and len(lines[-1]) < 20 else None


def _message_in(key: str, signed: SignedFile, files: list[tuple[str, bytes]]) -> IncomingMessage:
    copies = addresses(signed.get("Cc"))
    return IncomingMessage(
        key=key,
        sender=bare(signed.get("From")),
        recipients=tuple(dict.fromkeys((*addresses(signed.get("To")), *copies))),
        subject=signed.get("Subject"),
        date=signed.get("Date"),
        body=signed.body,
        id=signed.get("Message-ID").strip("<> \t"),
        copies=copies,
        thread=signed.get("In-Reply-To"),
        attachments=tuple(files),
    )
