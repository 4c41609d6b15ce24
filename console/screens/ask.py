"""A question with the answer no by default; the key that confirms is never the one that asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

__all__ = ["Ask"]


class Ask(ModalScreen[bool]):
    """Asks, and gives true for `y` only."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,enter,q", "answer(False)", "no"),
    ]

    def __init__(self, question: str, detail: str = "") -> None:
        super().__init__()
        self._question = question
        self._detail = detail

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(self._question, id="ask-question", markup=False)
            if self._detail:
                yield Static(self._detail, id="ask-detail", markup=False)
            yield Static("y yes    n no (enter)", id="ask-keys", markup=False)

    def action_answer(self, answer: bool) -> None:
        """Give the answer."""
        self.dismiss(answer)
