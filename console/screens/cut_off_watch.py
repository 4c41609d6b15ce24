"""Say when a mailbox is cut off, and when it can be reached again."""

from __future__ import annotations

from console.screens.mail_screen import MailScreen
from console.screens.reading import Reading
from console.words.cut_off_words import cut_off_news
from mailstore.state.connections import CutOff


class CutOffWatch:
    """Compares what is cut off with what was so at the last drawing; the header says it as long as it lasts."""

    def __init__(self, screen: MailScreen, reading: Reading) -> None:
        self._screen = screen
        self._reading = reading
        self._lost: dict[str, CutOff] = {}

    def drawn(self) -> None:
        """Say what changed since the last drawing."""
        session = self._screen.session
        before, self._lost = self._lost, {lost.label: lost for lost in session.live.cut_off()}
        if words := cut_off_news(before, self._lost, session.clock()):
            self._screen.tell(" · ".join(words))
            self._settle()

    def _settle(self) -> None:
        """Write the read records that waited for a mailbox that can be reached again."""
        session = self._screen.session
        due = [each for each in session.owed if session.live.cut_off_of(each) is None]
        if due:
            session.owed.difference_update(due)
            self._screen.run_task(self._reading.keep_seen([], due), group="marks")
