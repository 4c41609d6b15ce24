"""Ask for confirmation; the key that confirms is never the one that asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from console.screens.dialog import Dialog


class Ask(Dialog[bool]):
    """Says what will be done; returns true for `y`, and for Enter where a previous answer led here.

    Elsewhere Enter answers no; what each key does is shown below the question.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("enter", "default", "default answer"),
        Binding("n,escape,q", "answer(False)", "no"),
    ]

    def __init__(self, question: str, detail: str | Content = "", *, verb: str, enter_confirms: bool = False) -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._enter_confirms = enter_confirms
        self._keys = f"Enter/y: {verb} · Esc: cancel" if enter_confirms else f"y: {verb} · Enter/Esc: cancel"

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(self._question, id="ask-question", markup=False)
            if self._detail:
                yield Static(self._detail, id="ask-detail", markup=False)
            yield Static(self._keys, id="ask-keys", markup=False)

    def action_answer(self, answer: bool) -> None:
        """Give the answer."""
        self.dismiss(answer)

    def action_default(self) -> None:
        """Give Enter's answer."""
        self.dismiss(self._enter_confirms)
