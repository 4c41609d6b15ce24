"""Everything that needs attention, under headings."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from console.commands.bindings import bindings
from console.screens.desks.desk import Desk


class AttentionDesk(Desk):
    """Everything that needs attention, under headings, what is addressed to the person first."""

    NAME = "attention"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Needs attention"
