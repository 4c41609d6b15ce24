"""What the parts of the main screen need of it: each part's own module names the rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.session import Session
    from mailstore.records.message import Message

T = TypeVar("T")


class RunningTimer(Protocol):
    """A timer that was set."""

    def stop(self) -> None:
        """Don't call back."""


class PartScreen(Protocol):
    """What every part may ask of its screen."""

    session: Session

    def tell(self, words: str, *, most_seconds: float = ...) -> None:
        """Show a notice in the footer until it was read or the next key comes, for so many seconds at most."""

    def report(self, error: object, title: str = "") -> None:
        """Show an error in a notification."""

    def redraw(self) -> None:
        """Draw everything that may have changed."""

    def run_task(self, work: Coroutine[Any, Any, object], *, group: str, exclusive: bool = False) -> None:
        """Run a coroutine beside the event loop's other work; an exclusive one cancels the others of its group."""

    def ask(self, dialog: Screen[T], answered: Callable[[T | None], None]) -> None:
        """Show a dialog and call back with its answer."""

    async def ask_and_wait(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and return its answer; only within a task."""


class MessageScreen(PartScreen, Protocol):
    """What a part needs that acts on the selected message."""

    def selected_message(self, otherwise: str = ...) -> Message | None:
        """Return the selected message; where there is none, say so and return None."""
