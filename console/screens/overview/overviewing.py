"""Open the overview, show the threads behind one of its cells, and come back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.running.idle import load_modules
from console.screens.mail_screen import MailScreen

if TYPE_CHECKING:
    from console.screens.overview.place import Departure, OverviewPlace
    from console.screens.searching import Searching
    from console.screens.time_travel import TimeTravel

SPAN = "overview.span"


class Overviewing:
    """Shows the overview; a cell that is opened there is searched for on the main screen."""

    def __init__(self, screen: MailScreen, searching: Searching, time_travel: TimeTravel) -> None:
        self._screen = screen
        self._searching = searching
        self._time_travel = time_travel
        self._place: OverviewPlace | None = None
        self._query = ""
        """The query that the overview was left for."""

    async def open(self) -> None:
        """Show the overview as it was left; it is imported when it is first wanted."""
        await load_modules("console.screens.overview.screen")
        self._open()

    def _open(self) -> None:
        from console.screens.overview.place import OverviewPlace
        from console.screens.overview.screen import Overview
        from mailstore.overview.bars import SPANS

        personal = self._screen.session.personal
        if self._place is None:
            known = personal.recall(SPAN)
            self._place = OverviewPlace(known) if known in SPANS else OverviewPlace()
        self._query = ""
        self._screen.ask(Overview(self._screen.session, self._screen.text_styles, self._place), self._left)

    def _left(self, departure: Departure | None) -> None:
        self._remember()
        if departure is None:
            return
        if departure.query:
            self._query = departure.query
            self._searching.show(departure.query)
        elif departure.moment is not None:
            self._time_travel.go_to(departure.moment)
        else:
            self._time_travel.end()

    def _remember(self) -> None:
        personal = self._screen.session.personal
        if self._place is not None and personal.recall(SPAN) != self._place.span:
            personal.remember(SPAN, self._place.span)
            self._screen.run_task(self._save(), group="remember")

    async def _save(self) -> None:
        import asyncio

        await asyncio.to_thread(self._screen.session.personal.save_remembered, SPAN)

    def come_back(self) -> bool:
        """Go back to the overview if its threads are still listed; return whether they were."""
        if not self._query or self._searching.query != self._query:
            return False
        self._searching.clear()
        self._open()
        return True
