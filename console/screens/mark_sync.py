"""Take over what other consoles of the same person marked."""

from __future__ import annotations

import asyncio

from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping

TICKS = 30
"""After how many seconds marks are looked for though the saved state does not seem to have changed."""


class MarkSync:
    """Looks at the saved state once a second, and reads it when it changed."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping
        self._ticks = 0
        self._stamp: tuple[int, int] | None = None
        self._is_looking = False
        """Whether the saved state is being read: cancelled, that would lose what was found."""

    def tick(self) -> None:
        """Look for marks if the saved state changed; called once a second."""
        session = self._screen.session
        self._ticks += 1
        stamp = session.personal.state.stamp()
        if session.is_loading or self._is_looking:
            return
        if stamp != self._stamp or self._ticks % TICKS == 0:
            self._stamp, self._is_looking = stamp, True
            self._screen.run_task(self._take_over(), group="news")

    async def _take_over(self) -> None:
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
