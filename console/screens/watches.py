"""Look now and then at what no event tells: cut off mailboxes, delayed messages, marks of other consoles."""

from __future__ import annotations

import asyncio
from functools import partial

from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping
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
            self._screen.run_task(self._reading.keep_seen(due), group="marks")


DELAY_SECONDS = 5
"""How often delayed messages are looked for."""


class DelayWatch:
    """Asks the store now and then, if its messages are carried by transports; draws what changed."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._ticks = 0
        self._is_looking = False

    def tick(self) -> None:
        """Look if it is time; called once a second."""
        session = self._screen.session
        store = session.store
        if session.delayed is None and store.is_carried:
            session.delayed = {}
            self._screen.redraw()
        if self._ticks % DELAY_SECONDS == 0 and not self._is_looking and store.is_carried:
            self._is_looking = True
            self._screen.run_task(self._look(), group="news")
        self._ticks += 1

    async def _look(self) -> None:
        session = self._screen.session
        try:
            ways = await asyncio.to_thread(session.store.delayed)
        finally:
            self._is_looking = False
        if ways != session.delayed:
            session.delayed = ways
            self._screen.redraw()


Stamp = tuple[int, int] | None
LOOK_SECONDS, MARKS_SECONDS = 2, 30
"""How often it is looked whether marks were saved, and how often they are read though none seem to have been."""


class MarkSync:
    """Looks whether the saved state has changed, and reads it then."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping
        self._ticks = 0
        self._stamp: Stamp = None
        self.asked: asyncio.Future[Stamp] | None = None
        """The last question whether the saved state has changed."""
        self._is_looking = False
        """Whether the saved state is being read: cancelled, that would lose what was found."""

    def tick(self) -> None:
        """Look for marks if the saved state changed; called once a second."""
        number, self._ticks = self._ticks, self._ticks + 1
        if number % LOOK_SECONDS == 0 and not (self._screen.session.is_loading or self._is_looking):
            self._is_looking = True
            # without a task: an idle console does little else
            self.asked = asyncio.get_running_loop().run_in_executor(None, self._find_stamp)
            self.asked.add_done_callback(partial(self._found_stamp, is_due=number % MARKS_SECONDS == 0))

    def _find_stamp(self) -> Stamp:
        return self._screen.session.personal.state.stamp()

    def _found_stamp(self, found: asyncio.Future[Stamp], *, is_due: bool) -> None:
        self._is_looking = False
        if not found.cancelled() and (is_due or found.result() != self._stamp):
            self._stamp = found.result()
            self._is_looking = True
            self._screen.run_task(self._look(), group="news")

    async def _look(self) -> None:
        session = self._screen.session
        try:
            news = await asyncio.to_thread(session.personal.newly_seen)
            if news:
                session.live.fold(news, session.clock())
                self._screen.redraw()
            if await asyncio.to_thread(session.personal.load_quiet):
                self._keeping.begin()
        finally:
            self._is_looking = False
