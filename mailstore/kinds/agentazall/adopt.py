"""Write the records of another mailbox into new folders of agents."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from mailstore.files.naming import safe_name
from mailstore.files.whole import open_regular
from mailstore.kinds.agentazall.block import BEGIN, END, MARKERS, SIGNATURE, SIGNATURE_END
from mailstore.kinds.agentazall.message_file import moment, one_line
from mailstore.kinds.agentazall.names import HUMAN, NOBODY, USER, address_of, is_remote, name_of
from mailstore.kinds.agentazall.places import INBOX, OUTBOX, SENT
from mailstore.kinds.agentazall.tree import TASKS
from mailstore.kit.timestamps import utc
from mailstore.records.address import Kind, resolve
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import SOMEBODY, Delivery, Message, Receipt
from mailstore.records.roster import Agent, Roster

MODE = 0o640
STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~+=@-]{0,99}", re.ASCII)
FOLDERS = (INBOX, OUTBOX, SENT, "who_am_i", TASKS, "notes", "remember")
"""The folders that the program creates for each day."""
REFUSED = ',;<>"'
"""Characters that separate or quote addresses in a header."""
RESERVED = frozenset({"shared", HUMAN})


def adopt(root: Path, records: Iterable[Adopted]) -> None:
    """Write a folder for each agent, and each message for its sender and audience. Raises StoreError, OSError.

    The audience is everybody to whom it was delivered or who has read it; if neither is known, the agents that it
    is addressed to. Nothing is signed: only the senders could do that.
    """
    copying = _Copying(root)
    for record in records:
        match record:
            case Agent():
                copying.agents.put(record)
            case Delivery(message_id, recipient):
                copying.delivered.setdefault(message_id, []).append(recipient)
            case Receipt(message_id, reader) if reader != SOMEBODY:
                copying.readers.setdefault(message_id, []).append(reader)
            case AdoptedMessage():
                copying.write(record)
    copying.enrol()


class _Copying:
    """The agents and readers known while messages are written."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._latest = 0.0
        self._made: set[Path] = set()
        self.agents = Roster()
        self.delivered: dict[str, list[str]] = {}
        self.readers: dict[str, list[str]] = {}

    def write(self, adopted: AdoptedMessage) -> None:
        message = adopted.message
        self._latest = max(self._latest, message.time)
        day, date = _dated(message)
        readers = {_address(name) for name in (*self.readers.get(message.id, ()), *message.read_by)}
        delivered = {_address(name) for name in self.delivered.get(message.id, ())}
        audience = delivered | readers
        if not delivered and not message.is_listed:
            audience |= self._addressed(message)
        sender = _address(message.sender)
        header = {
            "From": sender,
            "To": ", ".join(dict.fromkeys(self._recipient(text) for text in message.recipients)),
            "Subject": one_line(message.subject),
            "Date": date,
            "Message-ID": _id(message.id),
            "Status": "new",
        }
        if thread := _answered(message):
            header["In-Reply-To"] = thread
        body = _body(adopted.content)
        file = f"{_stem(message.id)}.txt"
        self._put(f"{sender}/{day}/{SENT}/{file}", header, body, message.time)
        for owner in sorted(audience):
            status = "read" if owner in readers else "new"
            self._put(f"{owner}/{day}/{INBOX}/{file}", {**header, "Status": status}, body, message.time)

    def enrol(self) -> None:
        """Create the folders of the agents, with their activity."""
        for agent in self.agents:
            home = self._root / _address(agent.session_id)
            if home.name == HUMAN:
                continue
            last = agent.last_seen or agent.updated or self._latest or time.time()
            day = home / _day(_local(last))
            for folder in () if home.exists() and not agent.activity else FOLDERS:
                (day / folder).mkdir(parents=True, exist_ok=True)
            if agent.activity:
                (day / TASKS / "tasks.txt").write_text(agent.activity, encoding="utf-8", errors="replace")

    def _addressed(self, message: Message) -> set[str]:
        addresses = [resolve(text, self.agents) for text in message.recipients]
        names = [address.name for address in addresses if address.kind in (Kind.DIRECT, Kind.USER)]
        return {_address(name) for name in names if not is_remote(name)}

    def _recipient(self, text: str) -> str:
        address = resolve(text, self.agents)
        return _address(address.name if address.kind in (Kind.DIRECT, Kind.USER) else text)

    def _put(self, place: str, header: dict[str, str], body: str, changed: float) -> None:
        path = self._root / place
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        head = "".join(f"{name}: {value}\n" for name, value in header.items())
        fd = open_regular(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, MODE)
        with os.fdopen(fd, "wb") as file:
            file.write(f"{head}\n---\n{body}".encode("utf-8", "replace"))
        # the program keeps the modification time of a file that it delivers
        kept = min(max(changed, 0.0), time.time())
        os.utime(path, (kept, kept))


def _address(name: str) -> str:
    """Return the address for a name, which must be valid in a header and as a folder name."""
    if name == USER:
        return HUMAN
    address = address_of(name)
    # a name that only looks like an address of this system is kept whole
    address = address if name_of(address) == name else name
    return safe_name(address or NOBODY, REFUSED, RESERVED)


def _id(text: str) -> str:
    """Return an id for a header, changed if it would be read differently."""
    is_kept = text == one_line(text) and text == text.strip("<> \t") == text.strip()
    return text if is_kept else safe_name(text, "<>")


def _stem(message_id: str) -> str:
    """Return the stem of a message's files: its id, or a digest of the length that the program accepts."""
    if STEM.fullmatch(message_id):
        return message_id
    return hashlib.blake2b(message_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _answered(message: Message) -> str:
    """Return the parent's id; for a subject that only looks like a reply, the message's own id."""
    if message.thread:
        return _id(message.thread)
    return _id(message.id) if message.subject.lower().startswith("re: ") else ""


def _body(text: str) -> str:
    """Return a body that is read unchanged: one that contains signature markers is wrapped in a block without a key."""
    if not any(marker in text for marker in MARKERS):
        return text
    return "\n".join((BEGIN, "", text, END, SIGNATURE, "", SIGNATURE_END))


def _dated(message: Message) -> tuple[str, str]:
    """Return the day folder and the date of a message, in local time if that is exact."""
    local = _local(message.time)
    day = _day(local)
    if not message.timed:
        return day, ""
    text = f"{day} {local:%H:%M:%S}"
    zoned = utc(message.time).isoformat(timespec="microseconds" if message.time % 1 else "seconds")
    written = one_line(message.timestamp).strip()
    return day, next((each for each in (text, written) if moment(each) == message.time), zoned)


def _day(local: datetime) -> str:
    return f"{local.year:04d}-{local:%m-%d}"


def _local(seconds: float) -> datetime:
    try:
        return utc(seconds).astimezone()
    except (ValueError, OverflowError, OSError):
        return utc(seconds)
