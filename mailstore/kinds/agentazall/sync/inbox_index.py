"""What an agent's inbox holds, so that a message that comes twice is kept once."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mailstore.files.folder import Folder
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.decode import Copy, id_of, way_of
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, moment, parse
from mailstore.kinds.agentazall.names import bare, plain_of
from mailstore.kinds.agentazall.places import DAY, INBOX
from mailstore.kinds.agentazall.signature import SignatureFacts, facts_of

UNSIGNED_SECONDS = 600.0
SIGNED_SECONDS = 7200.0
"""How much the dates of two copies may differ: clocks may be an hour apart, and equal words have equal signatures."""
NEWEST_DAYS = 30
"""Days of an agent that are read whole; in older ones a message is looked for by its id alone."""
LOOK_SECONDS = 1.0
LOST_ID = re.compile(r"mail-[0-9a-f]{12}")
"""An id that this program gave to a message that came without one."""


class Known(NamedTuple):
    """A message: its id, whether its sender gave it that, and what its copies have in common."""

    id: str
    is_own_id: bool
    exact: str
    alike: str
    time: float | None
    is_signed: bool


def known_message(signed: SignedFile, message_id: str, is_own_id: bool, facts: SignatureFacts) -> Known:
    sender, text = plain_of(bare(signed.get("From"))), unwrapped(signed.body).strip()
    key = facts.key if facts.is_whole else ""
    alike = "\0".join((sender, signed.get("Subject") or "No Subject", text, key))
    return Known(
        message_id,
        is_own_id,
        _digest(f"{message_id}\0{sender}\0{text}"),
        _digest(alike),
        moment(signed.get("Date")),
        bool(key),
    )


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class InboxIndex:
    """The messages in the inboxes of an agent. Read when it is first asked; belongs to one thread at a time."""

    def __init__(self, root: Path, agent: str) -> None:
        self._root = root
        self._agent = agent
        self._folders: dict[str, Folder] = {}
        self._files: dict[str, set[str]] = {}
        self._looked = float("-inf")
        self._exact: dict[str, str] = {}
        self._alike: dict[str, list[Known]] = {}

    def look(self) -> None:
        """Read what others put into the folders, if the last look was a while ago. Raises OSError."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        for day in self._days()[-NEWEST_DAYS:]:
            folder = self._folders.setdefault(day, Folder(self._root / self._agent / day / INBOX, _is_message))
            seen = self._files.setdefault(day, set())
            for name in folder.look().keys() - seen:
                seen.add(name)
                if (known := self._read(Copy(self._agent, day, INBOX, name))) is not None:
                    self.add(known)
        self._looked = time.monotonic()

    def note(self, path: Path) -> None:
        """Remember that a message's file was taken in."""
        self._files.setdefault(path.parts[-3], set()).add(path.name)

    def add(self, known: Known) -> None:
        self._exact[known.exact] = known.id
        self._alike.setdefault(known.alike, []).append(known)

    def same(self, message: Known, is_paired: Callable[[str], bool]) -> str:
        """Return the id under which a message is there already, empty if it is new.

        It is the same by its id and text. A message that lost its id is one with the same text, sender, subject and
        signature and nearly the same date that has not come this way yet: equal messages that were both meant stay two.
        """
        if found := self._exact.get(message.exact) or self._older(message):
            return found
        for known in self._alike.get(message.alike, ()):
            if (known.is_own_id and message.is_own_id) or message.time is None or known.time is None:
                continue
            within = SIGNED_SECONDS if message.is_signed else UNSIGNED_SECONDS
            if abs(known.time - message.time) <= within and not is_paired(known.id):
                return known.id
        return ""

    def _older(self, message: Known) -> str:
        """Return the id of a message if one of the older days, which aren't read, has it under its name."""
        for day in self._days()[:-NEWEST_DAYS]:
            copy = Copy(self._agent, day, INBOX, f"{message.id}.txt")
            if (self._root / "/".join(copy)).is_file():
                known = self._read(copy)
                if known is not None and known.exact == message.exact:
                    return known.id
        return ""

    def _days(self) -> list[str]:
        """Return the days of the agent, oldest first."""
        try:
            return sorted(name for name in os.listdir(self._root / self._agent) if DAY.fullmatch(name))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _read(self, copy: Copy) -> Known | None:
        try:
            message = parse(read_whole(self._root / "/".join(copy)))
        except (OSError, NotAFile, InvalidSignedFile):
            return None
        message_id = id_of(message, copy)
        is_own_id = way_of(message, copy) == "folder" and not LOST_ID.fullmatch(message_id)
        return known_message(message, message_id, is_own_id, facts_of(message))


def _is_message(name: str) -> bool:
    return name.endswith(".txt") and not name.startswith(".")
