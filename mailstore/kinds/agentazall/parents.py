"""Find the parent of a message: AgentAZAll writes no id, only `Re:` and a quotation."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from typing import NamedTuple

from mailstore.kinds.agentazall.letter_file import SignedFile

QUOTED = re.compile(r"(?m)^--- Original from (.*) \((.*)\) ---\r?$")
RE = "re: "
MOST = 100
"""Maximum number of messages with the same date or subject that are considered."""


class _Known(NamedTuple):
    time: float
    id: str
    subject: str
    sender: str
    recipients: tuple[str, ...]

    @property
    def is_answer(self) -> bool:
        return self.subject.lower().startswith(RE)


NOBODY = _Known(0.0, "", "", "", ())


class Parents:
    """Messages by sender and date, and by sender and subject in order of time."""

    def __init__(self) -> None:
        self._dated: dict[tuple[str, str], list[_Known]] = {}
        self._named: dict[tuple[str, str], list[_Known]] = {}

    def note(self, letter: SignedFile, message_id: str, time: float, sender: str, recipients: tuple[str, ...]) -> None:
        """Add a message that may have replies."""
        known = _Known(time, message_id, letter.get("Subject"), sender, recipients)
        self._dated.setdefault((letter.get("From"), letter.get("Date")), []).append(known)
        insort(self._named.setdefault((_plain(known.subject), sender), []), known)

    def of(
        self, letter: SignedFile, body: str, message_id: str, time: float, sender: str, recipients: tuple[str, ...]
    ) -> str | None:
        """Return the id of a message's parent.

        The id in In-Reply-To if there is one, else the message of the quoted sender and date, else the latest earlier
        one with that subject between the same two.
        """
        if named := letter.get("In-Reply-To").strip("<> "):
            return named if named != message_id else None
        if not is_answer(letter):
            return None
        subject = _plain(letter.get("Subject"))
        if quoted := QUOTED.search(body):
            dated = self._dated.get((quoted[1].strip(), quoted[2].strip()), [])[:MOST]
            found = [one for one in dated if one.id != message_id and one.time <= time]
            same = [one for one in found if _plain(one.subject) == subject]
            if same or found:
                return (same or found)[0].id
        latest = [self._latest(subject, one, time, sender, message_id) for one in recipients[:MOST]]
        return max((one for one in latest if one), default=NOBODY).id or None

    def _latest(self, subject: str, writer: str, time: float, reader: str, but: str) -> _Known | None:
        """Return the latest message with a subject from `writer` to `reader`, up to a time."""
        named = self._named.get((subject, writer), [])
        at = bisect_right(named, time, key=lambda one: one.time)
        for one in reversed(named[max(0, at - MOST) : at]):
            # dates have whole seconds: the parent may have the same one
            is_before = one.time < time or not one.is_answer
            if is_before and reader in one.recipients and one.id != but:
                return one
        return None


def is_answer(letter: SignedFile) -> bool:
    """Return whether the subject marks a message as a reply."""
    return letter.get("Subject").lower().startswith(RE)


def _plain(subject: str) -> str:
    """Return a subject without `Re:`."""
    while subject.lower().startswith(RE):
        subject = subject[len(RE) :].lstrip()
    return subject
