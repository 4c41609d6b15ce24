"""Learn which letters could not be sent yet."""

from __future__ import annotations

import asyncio

from console.screens.mail_screen import MailScreen

TICKS = 5
"""How often it is looked, in seconds."""


class DelayWatch:
    """Asks the store now and then, if its letters are carried by transports; draws what changed."""

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
        if self._ticks % TICKS == 0 and not self._is_looking and store.is_carried:
            self._is_looking = True
            self._screen.run_task(self._look(), group="news")
        self._ticks += 1

    async def _look(self) -> None:
        session = self._screen.session
        try:
            found = await asyncio.to_thread(session.store.delayed)
        finally:
            self._is_looking = False
        if found != session.delayed:
            session.delayed = found
            self._screen.redraw()
