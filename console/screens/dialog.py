"""Screens that lie over others, and close once.

Textual takes styles from the first base only: that is its own class.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.command import CommandPalette
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import OptionList

from console.widgets.punctual import PunctualTimers

R = TypeVar("R")
SEEN_SECONDS = 0.5


class ClosesOnce(PunctualTimers, Screen[R]):
    """A screen that closes itself only while it is the one on top: a second key of the same read finds it closed."""

    ignores_keys = False
    """Whether it came while you were typing: for half a second it takes no key, which was meant for something else."""

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's names
        super().__init__(name, id, classes)
        with suppress(ImportError):  # Textual's own, if its parts are called otherwise (docs/decisions/0033)
            from console.widgets.compositor import LineCompositor

            self._compositor = LineCompositor()

    def redraw(self) -> None:
        """Show what may have changed in the mailbox; most dialogs stay as they were opened."""

    def comes_late(self) -> None:
        """Take no key until it has been in sight for half a second."""
        self.ignores_keys = True

    def on_mount(self) -> None:
        """Take keys once it could be seen."""
        if self.ignores_keys:
            self.call_after_refresh(self.set_timer, SEEN_SECONDS, self._was_seen)

    def _was_seen(self) -> None:
        self.ignores_keys = False

    def dismiss(self, result: R | None = None) -> AwaitComplete:
        """Close with a result; do nothing if it is closed, or another screen lies over it."""
        return super().dismiss(result) if self.app.screen_stack[-1:] == [self] else AwaitComplete()

    def remove(self) -> AwaitRemove:
        """Remove the screen, and free the lines of its widgets: Textual's cache holds the last 1,024 widgets."""
        for widget in self.walk_children(Widget, with_self=True):
            widget._styles_cache.clear()
        return super().remove()


class Dialog(ModalScreen[R], ClosesOnce[R]):
    """A dialog over a screen, which stays visible."""


class CommandDialog(CommandPalette, ClosesOnce[None]):
    """The command palette."""

    VERTICAL_BREAKPOINTS = [(0, "-squat"), (20, "-upright")]  # noqa: RUF012 - Textual doesn't declare it a class's

    def __init__(self) -> None:
        super().__init__(placeholder="a command, a view, an agent, a theme, or a word", id="--command-palette")

    def on_mount(self) -> None:
        """Name it in its frame, as other dialogs."""
        frame = self.query_one("#--input")
        frame.border_title = "Commands"
        frame.border_subtitle = "↑↓: choose · Enter: run · Esc: close"

    def _action_command_list(self, action: str) -> None:
        if self.query_one(OptionList).scrollable_content_region:  # Textual's list can't turn pages before it has a size
            super()._action_command_list(action)
