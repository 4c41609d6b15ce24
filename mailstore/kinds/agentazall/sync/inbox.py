"""An agent's inbox: each message from outside is checked before it touches the disk, and is on it when it is let in."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from threading import RLock

from mailstore.files.durable import sync_folder, write_durably
from mailstore.files.whole import open_regular
from mailstore.kinds.agentazall.attached import attachment_names
from mailstore.kinds.agentazall.ledger import ArrivalState
from mailstore.kinds.agentazall.message_file import moment, one_line, parse
from mailstore.kinds.agentazall.names import bare, name_of
from mailstore.kinds.agentazall.pins import Pins, SignatureChecker
from mailstore.kinds.agentazall.places import INBOX
from mailstore.kinds.agentazall.rules import Filter, is_blocked
from mailstore.kinds.agentazall.signature import SignatureVerdict
from mailstore.kinds.agentazall.spools import FOLDER, spooled_at
from mailstore.kinds.agentazall.sync.inbox_index import InboxIndex, known_message
from mailstore.kinds.agentazall.sync.keeping import folders_of, put_message
from mailstore.kinds.agentazall.sync.keyring import note_key
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.plan import AccountPlan
from mailstore.kinds.agentazall.transports.transport import BLOCKED, MOST_BYTES, UNEXPECTED, IncomingMessage, unexpected

ID = r"[A-Za-z0-9][A-Za-z0-9._~+=@-]{0,99}"
LONGEST = 2000
"""Characters of a header's value."""
MOST_RECIPIENTS = 1000
EXCERPT_BYTES = 4096
AHEAD_SECONDS = 86_400.0
RESERVED = 16 << 20
"""Bytes of the disk that are held before more is fetched, and given up for it if the disk is full."""


class AgentInbox:
    """What all accounts of an agent share: its inbox, the keys of its correspondents, one message at a time."""

    def __init__(
        self, root: Path, agent: str, rules: Filter, ledger: LedgerWriter, pins: Pins, tell: Callable[[str], None]
    ) -> None:
        self.root = root
        self.agent = agent
        self.desk = root / agent / FOLDER
        self.rules = rules
        self.ledger = ledger
        self.pins = pins
        self.checker = SignatureChecker(pins)
        self.tell = tell
        self.index = InboxIndex(root, agent)
        self.lock = RLock()
        self.spools: set[Path] = set()
        """The folders of the accounts' own spools."""


class AccountInbox:
    """The Receiver of one account of an agent."""

    def __init__(self, shared: AgentInbox, account: AccountPlan, label: str) -> None:
        self._shared = shared
        self._account = account
        self._label = label
        self.kept = 0
        self._spool = Spool(shared.root / shared.agent, label)
        shared.spools.add(self._spool.folder)
        self._is_odd = False
        """Whether what is taken in from the spool holds something that was turned away by a mistake."""

    def knows(self, key: str) -> bool:
        """Return whether a message was taken in or turned away before, unless by a filter that lets it in now."""
        return self._reason_for(key) is not None

    def _reason_for(self, key: str) -> str | None:
        note = self._shared.ledger.note_of(self._shared.agent, self._label, _key(key))
        if note is None or (note[0].startswith(BLOCKED) and self.admits(note[1])):
            return None
        return note[0]

    def admits(self, sender: str) -> bool:
        """Return whether the address filter lets a sender in: by what it wrote, and by the address in that."""
        rules = self._shared.rules
        here = self._account.here(bare(sender))
        return not any(is_blocked(rules, each) for each in (sender, bare(sender), here))

    def keep(self, message: IncomingMessage) -> None:
        """Take a message in, once. Raises OSError and StoreError."""
        with self._shared.lock:
            reason = self._reason_for(message.key)
            if reason is not None:
                # a run that ended between the record and the spool
                self._is_odd = self._is_odd or reason.startswith(UNEXPECTED)
                return
            # what this raises is not the message's fault
            self._shared.index.look()
            try:
                self._check(message)
            except Exception as error:
                excerpt = message.body[:EXCERPT_BYTES].encode("utf-8", "replace")
                why = unexpected(error)
                if self.knows(message.key):
                    self._shared.tell(f"{self._shared.agent}: a message by {self._label} was taken in, but: {why}")
                else:
                    self.turn_away(message.key, why, excerpt, message.sender)

    def _check(self, message: IncomingMessage) -> None:
        excerpt = message.body[:EXCERPT_BYTES].encode("utf-8", "replace")
        if not self.admits(message.sender):
            self.turn_away(message.key, f"{BLOCKED} {message.sender}", excerpt, message.sender)
            return
        size = len(message.body.encode("utf-8", "surrogatepass")) + sum(len(data) for _, data in message.attachments)
        if size > MOST_BYTES:
            reason = f"larger than {MOST_BYTES >> 20} MiB with its attachments"
            self.turn_away(message.key, reason, excerpt, message.sender)
            return
        self._take_in(message)

    def turn_away(self, key: str, reason: str, excerpt: bytes = b"", sender: str = "") -> None:
        shared = self._shared
        self._is_odd = self._is_odd or reason.startswith(UNEXPECTED)
        if not self.knows(key):
            shared.ledger.note_arrival(
                shared.agent, self._label, _key(key), "", time.time(), ArrivalState.TURNED_AWAY, _line(reason),
                _line(sender), excerpt[:EXCERPT_BYTES],
            )  # fmt: skip
            shared.tell(f"{shared.agent}: a message by {self._label} was turned away: {_line(reason)}")

    def spool(self, data: bytes) -> Path:
        """Keep bytes that the other side has deleted. Raises OSError."""
        return self._spool.put(data)

    def unspool(self, path: Path) -> None:
        """Remove what was spooled; put it aside if it is the only whole copy of a message that can't be checked."""
        if self._is_odd:
            kept = self._spool.put_aside(path)
            self._is_odd = False
            self._shared.tell(f"{self._shared.agent}: what came with that message by {self._label} is kept in {kept}")
        else:
            self._spool.remove(path)

    def spooled(self) -> list[Path]:
        """Return what an interrupted run left, and make sure that there is room for more. Raises OSError."""
        self._is_odd = False
        return self._spool.waiting()

    def strays(self) -> list[tuple[Path, bool]]:
        """Return what accounts left that are not set here any more, or that fetched others' messages."""
        homes = (self._shared.root / name for name in sorted(folders_of(self._shared.root)))
        return [
            (path, home.name == self._shared.agent)
            for home in homes
            for path in spooled_at(home)
            if path.suffix == ".bytes" and path.parent not in self._shared.spools
        ]

    def _take_in(self, message: IncomingMessage) -> None:
        shared = self._shared
        message_id, is_own_id = self._id(message)
        data = self._file(message, message_id, is_own_id=is_own_id)
        parsed = parse(data)
        facts = shared.checker.facts_of(parsed)
        known = known_message(parsed, message_id, is_own_id, facts)
        sender, now = bare(parsed.get("From")), time.time()
        same = shared.index.same(known, lambda other: shared.ledger.came_by(shared.agent, self._label, other))
        if same:
            state = ArrivalState.DUPLICATE
        else:
            state = ArrivalState.KEPT
            self._put(message, message_id, data)
        shared.ledger.note_arrival(
            shared.agent,
            self._label,
            _key(message.key),
            same or message_id,
            now,
            state,
            _verdict(facts.verdict),
            sender,
        )
        if state is ArrivalState.KEPT:
            self.kept += 1
            shared.index.add(known)
            for warning in shared.checker.checked(facts, name_of(sender), message_id)[1]:
                shared.tell(f"{shared.agent}: {warning}")
            for warning in note_key(shared.root / shared.agent, sender, facts):
                shared.tell(f"{shared.agent}: {warning}")

    def _put(self, message: IncomingMessage, message_id: str, data: bytes) -> None:
        """Write the message under its id, or, if another message has that name, under one of its own."""
        shared = self._shared
        box = shared.root / shared.agent / _day(message) / INBOX
        own = hashlib.blake2b(
            f"{self._label}\0{message.key}\0{message.body}".encode("utf-8", "surrogatepass"), digest_size=6
        )
        for stem in (message_id, f"{message_id[:80]}-{own.hexdigest()}"):
            if put_message(shared.root, box, stem, data, message.attachments, shared.desk):
                shared.index.note(box / f"{stem}.txt")
                return
        raise FileExistsError(17, "another message has this name", str(box / f"{message_id}.txt"))

    def _id(self, message: IncomingMessage) -> tuple[str, bool]:
        """Return a message's id, and whether its sender gave it: a relay's own id, or one made from its key."""
        import re

        given = message.id.strip("<> \t")
        if re.fullmatch(ID, given):
            return given, True
        if self._account.kind == "relay" and re.fullmatch(ID, message.key):
            return message.key, False
        digest = hashlib.blake2b(f"{self._label}\0{message.key}".encode("utf-8", "surrogatepass"), digest_size=6)
        return f"mail-{digest.hexdigest()}", False

    def _file(self, message: IncomingMessage, message_id: str, *, is_own_id: bool) -> bytes:
        copies = tuple(map(self._account.here, message.copies[:MOST_RECIPIENTS]))
        recipients = tuple(map(self._account.here, message.recipients[:MOST_RECIPIENTS]))
        to = [recipient for recipient in recipients if recipient not in copies] or [self._shared.agent]
        names = attachment_names([name for name, _ in message.attachments])
        header = {
            "From": self._account.here(message.sender),
            "To": ", ".join(map(_line, to)),
            "Cc": ", ".join(map(_line, copies)),
            "Subject": message.subject,
            "Date": _date(message, is_own_id=is_own_id),
            "Message-ID": message_id,
            "Status": "new",
            "Attachments": ", ".join(names),
            "In-Reply-To": message.thread if message.thread != message_id else "",
        }
        needed = ("From", "To", "Subject", "Date", "Message-ID", "Status")
        head = "".join(f"{name}: {_line(text)}\n" for name, text in header.items() if text or name in needed)
        return f"{head}\n---\n{message.body}".encode("utf-8", "replace")


def _key(key: str) -> str:
    """Return a message's key as it can be stored."""
    return key.encode("utf-8", "backslashreplace").decode()


def _line(text: str) -> str:
    """Return a header's value without anything that could end its line or hide in it."""
    return one_line(text).strip()[:LONGEST]


def _date(message: IncomingMessage, *, is_own_id: bool) -> str:
    """Return the date to write; an e-mail date tells that the message came without its id."""
    when = moment(message.date)
    if when is None:
        when = _arrival(message) or time.time()
        return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")
    if is_own_id and not message.date[:1].isdigit():
        return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")
    return message.date


def _arrival(message: IncomingMessage) -> float | None:
    """Return when the server took a message; None if it says nothing or what can't be."""
    when = message.arrived
    return when if when is not None and 0 < when <= time.time() + AHEAD_SECONDS else None


def _day(message: IncomingMessage) -> str:
    """Return the day folder: the day on which the server took the message, else that of its date, never far ahead."""
    now = time.time()
    when = _arrival(message) or moment(message.date) or now
    when = when if 0 < when <= now + AHEAD_SECONDS else now
    return datetime.fromtimestamp(when).astimezone().strftime("%Y-%m-%d")


def _verdict(verdict: SignatureVerdict) -> str:
    return "" if verdict in (SignatureVerdict.NONE, SignatureVerdict.VALID) else f"its signature is {verdict}"


class Spool:
    """The spool of one account; created when it is first needed."""

    def __init__(self, home: Path, label: str) -> None:
        digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        self._home = home
        self.folder = home / FOLDER / f"spool-{digest}"
        self._reserve = self.folder / "reserve"

    def waiting(self) -> list[Path]:
        """Return what was spooled, oldest first, and reserve room for more. Raises OSError."""
        paths = sorted(path for path in self.folder.glob("*.bytes")) if self.folder.is_dir() else []
        self._make()
        if not self._reserve.exists():
            fd = open_regular(self._reserve, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW)
            try:
                _reserve(fd)
            except OSError:
                self._reserve.unlink()
                raise
            finally:
                os.close(fd)
        return paths

    def put(self, data: bytes) -> Path:
        """Write bytes durably. Raises OSError."""
        self._make()
        try:
            return self._put(data)
        except OSError:
            # the room that was reserved for this
            with suppress(FileNotFoundError):
                self._reserve.unlink()
            return self._put(data)

    def remove(self, path: Path) -> None:
        """Remove what was spooled. Raises OSError."""
        path.unlink(missing_ok=True)
        sync_folder(path.parent)

    def put_aside(self, path: Path) -> Path:
        """Keep what was spooled, and never return it again. Raises OSError."""
        names = (f"{path.stem}-{number}.aside" for number in count(1))
        kept = next(each for each in map(path.with_name, names) if not each.exists())
        path.rename(kept)
        sync_folder(path.parent)
        return kept

    def _put(self, data: bytes) -> Path:
        numbers = [int(each.stem) for each in self.folder.glob("*.bytes") if each.stem.isdigit()]
        path = self.folder / f"{max(numbers, default=0) + 1:012}.bytes"
        new = path.with_suffix(".new")
        write_durably(new, data, 0o600)
        new.rename(path)
        sync_folder(self.folder)
        return path

    def _make(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync_folder(self._home)


def _reserve(fd: int) -> None:
    """Take room on the disk for an empty file. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, RESERVED)
        return
    piece = bytes(1 << 20)
    for _ in range(RESERVED // len(piece)):
        if os.write(fd, piece) < len(piece):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
