"""One console for many cases: opened again only where a case can't be tried on what the one before it left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle

CLOSING_KEYS = 4
"""How often escape is pressed to get back to the main screen, before the console is given up."""


class SharedConsole:
    """Tries cases that bring a console to where they begin; `write` makes the mailbox in a folder.

    Opening takes longer than most cases. `opened_count` says how often it was done.
    """

    def __init__(self, write: Callable[[Path], Path], folder: Path, **options: Any) -> None:
        self._write, self._folder, self._options = write, folder, options
        self._stack = AsyncExitStack()
        self._seat: Seat | None = None
        self.opened_count = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def attempt(
        self, case: Callable[[Seat], Awaitable[None]], begins: Callable[[Seat], bool] = lambda seat: False
    ) -> None:
        """Try a case where the last one ended; in a new console on new files only if the last one closed it.

        The console is brought back to the main screen before, unless the case `begins` where it is.
        """
        if self._seat is None or not (begins(self._seat) or await is_home(self._seat)):
            self._seat = await self._new_seat()
        await case(self._seat)

    async def _new_seat(self) -> Seat:
        await self._stack.aclose()
        self.opened_count += 1
        own = self._folder / str(self.opened_count)
        own.mkdir()
        seat = await self._stack.enter_async_context(opened(self._write(own), **self._options))
        await is_home(seat)
        return seat


async def is_home(seat: Seat) -> bool:
    """Show all threads, none marked, the newest selected, and the list focused; return whether that was possible."""
    if seat.app.return_code is not None:
        return False
    for _ in range(CLOSING_KEYS):
        if seat.app.screen is seat.screen:
            break
        await seat.press("escape")
    else:
        return False
    screen = seat.screen
    if screen.composer.is_open:
        screen.composer.discard()
    screen.footer.notice = ""
    screen.listing.clear_marks()
    screen.show_view(View("all"))
    screen.threads.action_first()
    screen.threads.focus()
    await settle(seat.pilot)
    return True
