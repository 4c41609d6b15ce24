"""The first key seen of each sender, stored in our own state: trust on first use.

The program's own keyring doesn't help: it trusts the fingerprint in the message and doesn't warn of changes.
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path

import msgspec

from mailstore.errors import StoreError, reason_of
from mailstore.files.append import locked, replace_file
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import NotAFile, read_whole
from mailstore.installation import remedy
from mailstore.kinds.agentazall.message_file import SignedFile
from mailstore.kinds.agentazall.names import USER
from mailstore.kinds.agentazall.places import make_private, state_folder
from mailstore.kinds.agentazall.signature import (
    NOT_CHECKED,
    SignatureFacts,
    SignatureVerdict,
    facts_of,
    fingerprint_of,
    key_of,
)

LARGEST = 64 << 20
PAUSE_SECONDS = 1.0
When = tuple[float, float]
"""How old a message is: when it was sent, and when its file was changed, in seconds since the epoch."""
NOW: When = (math.inf, math.inf)


class Key(StrEnum):
    """How a message's key relates to the one remembered for its sender."""

    NEW = "new"
    PINNED = "pinned"
    CHANGED = "CHANGED"


class Pin(msgspec.Struct, frozen=True):
    """A sender's key in base64, and by which message and when it was first seen."""

    public_key: str
    first_seen: float
    message_id: str = ""

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(key_of(self.public_key))


Table = dict[str, dict[str, Pin]]


class Pins:
    """The keys remembered for one mailbox. Thread-safe."""

    def __init__(self, mailbox: str) -> None:
        self._mailbox = mailbox
        self._pins: dict[str, Pin] = {}
        self._unsaved: dict[str, Pin] = {}
        self._since: dict[str, When] = {}
        """How old the message is by which each unsaved key was seen."""
        self._lock = threading.Lock()
        self._saved = float("-inf")
        self.trouble = ""
        self.was_wrong = False
        """Whether another key took the place of one that had been compared with, since it is in an older message."""

    @property
    def path(self) -> Path:
        """Return the file with the keys of all mailboxes."""
        return state_folder() / "pins.json"

    def load(self) -> None:
        """Load the stored keys; an unreadable file is reported in `trouble` and not overwritten."""
        with self._lock:
            try:
                self._pins = {**_table(self.path).get(self._mailbox, {}), **self._unsaved}
            except (OSError, NotAFile, *UNREADABLE) as error:
                self.trouble = f"the keys of senders can't be stored: {self.path} can't be read ({reason_of(error)})"

    def known(self, sender: str) -> Pin | None:
        return self._pins.get(sender)

    def compare(self, sender: str, key: str, message_id: str, when: When = NOW) -> Key:
        """Compare a key with the stored one; the first key is stored.

        Messages may be read the newest first: until keys are saved, that of the oldest message is the first.
        """
        with self._lock:
            pin = self._pins.get(sender)
            if pin is not None and when < self._since.get(sender, when):
                self._since[sender] = when
                if pin.public_key != key:
                    self.was_wrong = True
                    pin = None
            if pin is None:
                pin = self._unsaved[sender] = self._pins[sender] = Pin(key, time.time(), message_id)
                self._since[sender] = when
            if pin.public_key != key:
                return Key.CHANGED
            return Key.NEW if pin.message_id == message_id else Key.PINNED

    def pin(self, sender: str, key: str) -> None:
        """Store a key that is known to be the sender's, replacing any other."""
        with self._lock:
            pin = self._pins.get(sender)
            if pin is None or pin.public_key != key:
                self._unsaved[sender] = self._pins[sender] = Pin(key, time.time())
                self._since.pop(sender, None)
        self.save(at_once=True)

    def save(self, *, at_once: bool = False) -> None:
        """Write new keys, at most once a second unless `at_once`; failures are reported in `trouble`."""
        with self._lock:
            if not self._unsaved or self.trouble or (not at_once and time.monotonic() - self._saved < PAUSE_SECONDS):
                return
            try:
                make_private(self.path, b"{}")
                with locked(self.path):
                    table = _table(self.path)
                    theirs = table.get(self._mailbox, {})
                    # another console may have been first: its key wins unless ours is known to be right
                    certain = {sender: pin for sender, pin in self._unsaved.items() if not pin.message_id}
                    self._pins |= {**self._unsaved, **theirs, **certain}
                    table[self._mailbox] = {**self._unsaved, **theirs, **certain}
                    replace_file(self.path, msgspec.json.format(msgspec.json.encode(table)))
                self._unsaved = {}
                self._since = {}
                self._saved = time.monotonic()
            except (OSError, NotAFile, StoreError, *UNREADABLE) as error:
                self.trouble = f"the keys of senders can't be stored: {reason_of(error)}"


def _table(path: Path) -> Table:
    with suppress(FileNotFoundError):
        return msgspec.json.decode(read_whole(path, LARGEST), type=Table)
    return {}


MOST_FACTS = 50_000
KEY_CHANGED = "the key of"


class SignatureChecker:
    """Check signatures, once for all copies of a message, and remember new keys."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        self._facts: dict[bytes, SignatureFacts] = {}

    def facts_of(self, signed: SignedFile) -> SignatureFacts:
        """Return the facts of a message's signature; copies of one message are checked once."""
        key = blake2b(signed.body.encode(), digest_size=16).digest()
        facts = self._facts.get(key)
        if facts is None or "Signature" in dict(signed.lines):
            if len(self._facts) > MOST_FACTS:
                self._facts.clear()
            facts = self._facts[key] = facts_of(signed)
        return facts

    def checked(
        self, facts: SignatureFacts, sender: str, message_id: str, when: When = NOW
    ) -> tuple[tuple[str, ...], list[str]]:
        """Return a message's facts as tags, including the state of its key, and warnings."""
        if facts.verdict is SignatureVerdict.NOT_CHECKED:
            return facts.tags(), [NOT_CHECKED + remedy("agentazall")]
        if facts.verdict is not SignatureVerdict.VALID or not facts.is_named:
            return facts.tags(), []
        pin = self._pins.known(sender)
        if not facts.is_all:
            # a quoted block may be signed by its own author
            is_senders = pin is not None and pin.public_key == facts.key
            return (*facts.tags(), "key:pinned" if is_senders else "key:of-another"), []
        key = self._pins.compare(sender, facts.key, message_id, when)
        pin = self._pins.known(sender)
        warnings = []
        if key is Key.CHANGED and pin is not None:
            whose = "you" if sender == USER else sender
            warnings.append(
                f"{KEY_CHANGED} {whose} has changed: {pin.fingerprint} was seen first, this is signed with "
                f"{fingerprint_of(key_of(facts.key))}; if that is intended, remove its entry from {self._pins.path}"
            )
        return (*facts.tags(), f"key:{key}"), warnings


def is_of_all(warning: str) -> bool:
    """Return whether a warning concerns the mailbox or a sender rather than one message; it is reported once."""
    return warning.startswith((NOT_CHECKED, KEY_CHANGED))
