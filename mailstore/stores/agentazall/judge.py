"""Sets the facts of a message's signature beside the key that is remembered for its sender."""

from __future__ import annotations

from hashlib import blake2b

from mailstore.stores.agentazall.letter import Letter
from mailstore.stores.agentazall.names import USER
from mailstore.stores.agentazall.pins import Key, Pins
from mailstore.stores.agentazall.signature import NOT_CHECKED, Facts, Verdict, facts_of, fingerprint_of, key_of

__all__ = ["Judge", "is_of_all"]

MOST_FACTS = 50_000
KEY_CHANGED = "the key of"


class Judge:
    """Checks signatures, those of a message's copies once, and has new keys remembered."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        self._facts: dict[bytes, Facts] = {}

    def facts_of(self, letter: Letter) -> Facts:
        """Return a letter's facts; copies of one message are checked once."""
        key = blake2b(letter.body.encode(), digest_size=16).digest()
        facts = self._facts.get(key)
        if facts is None or "Signature" in dict(letter.lines):
            if len(self._facts) > MOST_FACTS:
                self._facts.clear()
            facts = self._facts[key] = facts_of(letter)
        return facts

    def judged(self, facts: Facts, sender: str, message_id: str) -> tuple[tuple[str, ...], list[str]]:
        """Return a message's facts as tags, its key's standing among them, and what to warn of."""
        if facts.verdict is Verdict.NOT_CHECKED:
            return facts.tags(), [NOT_CHECKED]
        if facts.verdict is not Verdict.VALID or not facts.is_named:
            return facts.tags(), []
        pin = self._pins.known(sender)
        if not facts.is_all:
            # what is quoted may be signed by whoever wrote that
            is_senders = pin is not None and pin.public_key == facts.key
            return (*facts.tags(), "key:pinned" if is_senders else "key:of-another"), []
        key = self._pins.compare(sender, facts.key, message_id)
        warnings = []
        if key is Key.CHANGED and pin is not None:
            whose = "you" if sender == USER else sender
            warnings.append(
                f"{KEY_CHANGED} {whose} is another: {pin.fingerprint} was seen first, this is signed with "
                f"{fingerprint_of(key_of(facts.key))}; if that is meant, take its entry out of {self._pins.path}"
            )
        return (*facts.tags(), f"key:{key}"), warnings


def is_of_all(warning: str) -> bool:
    """Say whether a warning is of the mailbox or of a sender, and not of one message: it is told once."""
    return warning == NOT_CHECKED or warning.startswith(KEY_CHANGED)
