"""What needs attention: what was found, and which of it is listed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from console.quiet.marks import QuietMarks
    from mailstore.queries.concerns import Concern
    from mailstore.state.mailbox import Mailbox
    from mailstore.state.views import DeadLetter


class ConcernResult(Struct, frozen=True):
    """What was done about a concern, which stays in its row until the list is left; no words: it was undone."""

    concern: Concern
    words: str = ""


class ConcernsFound:
    """The concerns of one mailbox, in order, as they were when it was last searched for them."""

    def __init__(self) -> None:
        self.every: Sequence[Concern] = ()
        self.shown: Sequence[Concern] = ()
        """Those that the user has not acknowledged or snoozed."""
        self.roots: Mapping[str, Concern] = {}
        """The threads of those, in order, each with the first of its concerns."""
        self.totals: Mapping[str, int] = {}
        """How many there are under each heading, of which the first so many are listed."""
        self.results: dict[str, ConcernResult] = {}
        self.opened: set[str] = set()
        """The keys of the rows whose rows behind them are shown, until the list is left."""
        self.shift_since: float | None = None
        """When the user began to go through the rows one at a time, until the list is left."""
        self.changes = 0
        """How often anything of this has changed."""
        self._mailbox: Mailbox | None = None

    def set(
        self,
        mailbox: Mailbox,
        every: Sequence[Concern],
        shown: Sequence[Concern],
        roots: Mapping[str, Concern],
        totals: Mapping[str, int],
    ) -> bool:
        """Replace what was found; return whether that is something else."""
        is_new = mailbox is not self._mailbox or every != self.every or shown != self.shown or totals != self.totals
        self._mailbox, self.every, self.shown, self.roots, self.totals = mailbox, every, shown, roots, totals
        self.changes += is_new
        return is_new

    def is_of(self, mailbox: Mailbox) -> bool:
        """Return whether a mailbox was searched, and no other one since."""
        return mailbox is self._mailbox

    def number(self, mailbox: Mailbox) -> int:
        """Return how many concerns a mailbox has; 0 while it was not searched."""
        hidden = len(self.every) - len(self.shown)
        return sum(self.totals.values()) - hidden if self.is_of(mailbox) else 0

    @property
    def is_whole(self) -> bool:
        """Whether every concern is listed."""
        return sum(self.totals.values()) == len(self.every)

    def note(self, concern: Concern, words: str) -> None:
        """Note what was done about a concern; no words: it was undone."""
        self.changes += 1
        self.results[concern.key] = ConcernResult(concern, words)

    def note_settled(self, dead_letters: Collection[DeadLetter], words: str) -> None:
        """Note what was done about dead letters; no words: it was undone."""
        keys = {(dead_letter.message.id, dead_letter.recipient) for dead_letter in dead_letters}
        known = [*self.every, *(result.concern for result in self.results.values())]
        for concern in {it.key: it for it in known}.values():
            if concern.recipient and (concern.message_id, concern.recipient) in keys:
                self.note(concern, words)

    def toggle(self, key: str) -> None:
        """Show the rows behind a row, or hide them again."""
        self.changes += 1
        self.opened ^= {key}

    def forget_deeds(self) -> None:
        """Forget what was done and opened."""
        self.changes += bool(self.results or self.opened)
        self.results.clear()
        self.opened.clear()
        self.shift_since = None


ACKNOWLEDGED = "attention.acknowledged"
"""The name under which the keys of acknowledged concerns are remembered."""


def listed(
    concerns: Iterable[Concern], mailbox: Mailbox, acknowledged: Collection[str], quiet: QuietMarks
) -> list[Concern]:
    """Return the concerns that were not acknowledged, and of which neither row nor thread is snoozed."""
    return [
        concern for concern in concerns if concern.key not in acknowledged and not _is_snoozed(concern, mailbox, quiet)
    ]


def _is_snoozed(concern: Concern, mailbox: Mailbox, quiet: QuietMarks) -> bool:
    message = mailbox.message(concern.message_id or "")
    return quiet.is_row_snoozed(*snoozed_row(concern)) or (message is not None and mailbox.is_snoozed(message))


def snoozed_row(concern: Concern) -> tuple[str, str]:
    """Return what identifies a snoozed row: a message or an agent, and what distinguishes it from other rows."""
    return concern.message_id or concern.who, concern.key
