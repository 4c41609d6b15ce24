"""Which mailboxes can't be reached, since when and why."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mailstore.records.events import Back, Gone

NONE_LEFT = "none of the mailboxes can be reached"


class CutOff(msgspec.Struct, frozen=True, gc=False):
    """A mailbox that can't be reached; `label` is empty unless it is one of several.

    `since` in seconds since the epoch.
    """

    label: str
    reason: str
    since: float


class Connections:
    """The mailboxes that can't be reached, by label; empty as long as all can be."""

    def __init__(self) -> None:
        self._lost: dict[str, CutOff] = {}

    def lose(self, event: Gone, now: float) -> None:
        """Note that a mailbox can't be reached; one that is known to be lost stays so since it was."""
        known = self._lost.get(event.mailbox)
        since = known.since if known is not None else now if event.since is None else event.since
        self._lost[event.mailbox] = CutOff(event.mailbox, event.reason, since)

    def restore(self, event: Back) -> None:
        """Note that a mailbox can be reached again."""
        self._lost.pop(event.mailbox, None)

    def cut_off(self) -> list[CutOff]:
        """Return the mailboxes that can't be reached, the one that was lost first first."""
        return sorted(self._lost.values(), key=lambda lost: (lost.since, lost.label))

    def of(self, label: str) -> CutOff | None:
        """Return whether a mailbox can't be reached, by itself or because the whole can't be; None if it can."""
        return self._lost.get("") or self._lost.get(label)

    def reason(self, labels: Iterable[str]) -> str:
        """Return why nothing can be reached of the mailboxes with these labels; empty if something can."""
        if (whole := self._lost.get("")) is not None:
            return whole.reason
        wanted = set(labels)
        return NONE_LEFT if wanted and wanted <= self._lost.keys() else ""
