"""The dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.commands.bindings import bindings
from console.screens.desks.desk import Desk
from console.words.concern_words import heading, heading_of
from mailstore.queries.concerns import LETTERS, Concern


class LetterDesk(Desk):
    """The dead letters, the newest first."""

    NAME = "dead-letters"
    HAS_HEADINGS = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Dead letters"

    def listed(self) -> Sequence[Concern]:
        return self.arranged([it for it in self.session.attention.every if self.takes(it)])

    def takes(self, concern: Concern) -> bool:
        return concern.trouble in LETTERS

    def arranged(self, concerns: Sequence[Concern]) -> list[Concern]:
        return sorted(concerns, key=lambda it: (it.since, it.sent, it.key), reverse=True)

    def nothing(self) -> tuple[str, ...]:
        return ("No dead letters.", "", "All mail was read, or still can be.")

    def left_out(self) -> int:
        found = self.session.attention
        headings = {heading(trouble, is_mine=False) for trouble in LETTERS}
        listed = sum(heading_of(it) in headings for it in found.every)
        return sum(found.totals.get(each, 0) for each in headings) - listed
