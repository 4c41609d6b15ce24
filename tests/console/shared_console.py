"""One console for many cases: opened again only where a case leaves anything behind, on the screen or in the files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle

__all__ = ["SharedConsole"]

CLOSING_KEYS = 4
"""How often escape is pressed to get back to the main screen, before the console is given up."""


class SharedConsole:
    """Hands out a console that looks as it did when it was opened; `write` makes the mailbox in a folder.

    Opening takes longer than most cases. `opened_count` says how often it was done.
    """

    def __init__(self, write: Callable[[Path], Path], folder: Path, **options: Any) -> None:
        self._write, self._folder, self._options = write, folder, options
        self._stack = AsyncExitStack()
        self._seat: Seat | None = None
        self._first: Any = None
        self._data = folder
        self.opened_count = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def seat(self) -> Seat:
        """Return the console, as it was when it was opened; a new one on new files where it can't be brought there."""
        if self._seat is not None and await self._is_as_at_first(self._seat):
            return self._seat
        await self._stack.aclose()
        self.opened_count += 1
        own = self._folder / str(self.opened_count)
        own.mkdir()
        self._data = self._write(own)
        self._seat = await self._stack.enter_async_context(opened(self._data, **self._options))
        await go_home(self._seat)
        self._first = self._look(self._seat)
        return self._seat

    async def _is_as_at_first(self, seat: Seat) -> bool:
        if seat.app.return_code is not None:
            return False
        for _ in range(CLOSING_KEYS):
            if seat.app.screen is seat.screen:
                break
            await seat.press("escape")
        else:
            return False
        await go_home(seat)
        return bool(self._look(seat) == self._first)

    def _look(self, seat: Seat) -> Any:
        mailbox = [path for path in self._data.rglob("*") if path.is_file() and not path.name.startswith("own-state")]
        screen = seat.screen
        return (
            seat.lines,
            seat.app.theme,
            screen.classes,
            screen.composer.is_open,
            {path: path.read_bytes() for path in mailbox},
        )


async def go_home(seat: Seat) -> None:
    """Show all threads, the newest selected, and the list focused."""
    screen = seat.screen
    screen.footer.notice = ""
    screen.show_view(View("all"))
    screen.threads.action_first()
    screen.threads.focus()
    await settle(seat.pilot)
