"""A dialog with a list, of whose rows one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from console.screens.dialog import Dialog

Chosen = TypeVar("Chosen")


class ListDialog(Dialog[Chosen | None]):
    """Returns what was chosen, None if nothing was; a subclass declares the keys that choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "close"),
        Binding("j,down", "move('cursor_down')", "down"),
        Binding("k,up", "move('cursor_up')", "up"),
        Binding("g,home", "move('first')", "first"),
        Binding("G,end", "move('last')", "last"),
    ]

    def __init__(self, question: str, rows: Sequence[Content], keys: str, *, first: int = 0) -> None:
        super().__init__()
        self._question = question
        self._rows = rows
        self._keys = keys
        self._first = first

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(self._question, id="ask-question", markup=False)
            yield OptionList(*map(Option, self._rows), id="ask-rows", compact=True)
            yield Static(self._keys, id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()
        self._list.highlighted = self._first

    @property
    def _list(self) -> OptionList:
        return self.query_one("#ask-rows", OptionList)

    def action_move(self, how: str) -> None:
        """Move in the list."""
        getattr(self._list, f"action_{how}")()

    def action_leave(self) -> None:
        """Choose none."""
        self.dismiss(None)
