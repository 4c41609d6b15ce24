"""Compare a message's signature with the key remembered for its sender."""

from __future__ import annotations

from hashlib import blake2b

from mailstore.installation import remedy
from mailstore.kinds.agentazall.letter_file import SignedFile
from mailstore.kinds.agentazall.names import USER
from mailstore.kinds.agentazall.pins import NOW, Key, Pins, When
from mailstore.kinds.agentazall.signature import (
    NOT_CHECKED,
    SignatureFacts,
    SignatureVerdict,
    facts_of,
    fingerprint_of,
    key_of,
)

MOST_FACTS = 50_000
KEY_CHANGED = "the key of"


class SignatureChecker:
    """Check signatures, once for all copies of a message, and remember new keys."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        self._facts: dict[bytes, SignatureFacts] = {}

    def facts_of(self, letter: SignedFile) -> SignatureFacts:
        """Return the facts of a message's signature; copies of one message are checked once."""
        key = blake2b(letter.body.encode(), digest_size=16).digest()
        facts = self._facts.get(key)
        if facts is None or "Signature" in dict(letter.lines):
            if len(self._facts) > MOST_FACTS:
                self._facts.clear()
            facts = self._facts[key] = facts_of(letter)
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
