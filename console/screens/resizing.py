"""Resize the panes by keys, and remember their sizes."""

from __future__ import annotations

import asyncio

from console.screens.mail_screen import MailScreen

STEP = 4
"""Cells by which a key changes a pane."""


class Resizing:
    """Makes the focused pane wider or narrower; sizes are kept for screens that are about as wide."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def resize(self, direction: int) -> None:
        """Make the focused pane wider (1) or narrower (-1)."""
        screen = self._screen
        if screen.is_zoomed or screen.is_narrow:
            screen.tell("Only one pane is shown")
        elif screen.sizes.resize(direction * STEP):
            self.keep()
        else:
            screen.tell("No wider" if direction > 0 else "No narrower")

    def reset(self) -> None:
        """Give the panes their usual sizes again."""
        if self._screen.sizes.reset():
            self.keep()
        self._screen.tell("Panes have their usual sizes")

    def keep(self) -> None:
        """Save the sizes."""
        self._screen.run_task(asyncio.to_thread(self._screen.sizes.save), group="panes")
