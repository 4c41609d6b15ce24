"""Quit the console, and remember where the person was."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from console.screens.away import LEFT
from console.screens.location import ScreenLocation
from console.screens.needs import PartScreen

if TYPE_CHECKING:
    from console.composer_draft import ComposerDraft

__all__ = ["Closing", "ClosingScreen", "DraftPane"]


class DraftPane(Protocol):
    """What closing needs of the composer."""

    @property
    def is_open(self) -> bool: ...
    @property
    def writing(self) -> ComposerDraft: ...
    def flush(self) -> None: ...


class ClosingScreen(PartScreen, Protocol):
    """What closing needs of the screen."""

    @property
    def composer(self) -> DraftPane: ...
    def full_location(self) -> ScreenLocation: ...
    def exit(self) -> None: ...


class Closing:
    """Saves the draft and the location before the console ends."""

    def __init__(self, screen: ClosingScreen) -> None:
        self._screen = screen

    async def leave(self) -> None:
        """Save what is open and quit."""
        self._screen.composer.flush()
        session = self._screen.session
        session.personal.remember(LEFT, session.clock())
        await asyncio.to_thread(session.personal.save_remembered, LEFT)
        await asyncio.to_thread(session.personal.leave, self._screen.full_location().plain())
        self._screen.exit()

    def close(self) -> None:
        """Quit, asking first while a draft is open."""
        self._screen.run_task(self._close(), group="close", exclusive=True)

    async def _close(self) -> None:
        from console.screens.ask import Ask

        composer = self._screen.composer
        if composer.is_open and not composer.writing.is_blank:
            composer.flush()
            question = Ask("Quit with an open draft?", "The draft is kept.", verb="quit")
            if not await self._screen.ask_and_wait(question):
                return
        await self.leave()
