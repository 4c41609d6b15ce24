"""Say when a mailbox is cut off, and when it can be reached again."""

from __future__ import annotations

from console.cut_off_words import cut_off_news
from console.screens.needs import PartScreen
from mailstore.state.connections import CutOff

__all__ = ["CutOffWatch"]


class CutOffWatch:
    """Compares what is cut off with what was so at the last drawing; the header says it as long as it lasts."""

    def __init__(self, screen: PartScreen) -> None:
        self._screen = screen
        self._lost: dict[str, CutOff] = {}

    def drawn(self) -> None:
        """Say what changed since the last drawing."""
        session = self._screen.session
        before, self._lost = self._lost, {lost.label: lost for lost in session.live.cut_off()}
        if words := cut_off_news(before, self._lost, session.clock()):
            self._screen.tell(" · ".join(words))
