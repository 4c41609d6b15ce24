"""The input for searches and filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message as Note
from textual.widgets import Input, Static

from console.render.safe import visible_line
from mailstore.errors import QueryError

__all__ = ["SearchBar", "SearchProblem"]

Mode = Literal["search", "filter"]


class SearchProblem(Static):
    """The lines below the search: where its query is invalid, and why."""


class SearchBar(Input):
    """Searches or filters while typing; Enter goes to the results, Escape clears."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "close", show=False),
        Binding("down", "leave", "hits", show=False),
    ]

    @dataclass
    class Typed(Note):
        """The text changed."""

        mode: Mode
        text: str

    @dataclass
    class Left(Note):
        """The input is left for the list; unless `is_kept`, the search is cleared."""

        mode: Mode
        is_kept: bool

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, compact=True)
        self.mode: Mode = "search"

    def begin(self, mode: Mode, text: str) -> None:
        """Open the input for a search or a filter."""
        self.mode = mode
        self.placeholder = (
            "search: words, from:, to:, tag:, is:unread, after:2d …" if mode == "search" else "filter this list"
        )
        with self.prevent(Input.Changed):
            self.value = text
        self.display = True
        self.tell(None)
        self.screen.set_focus(self)  # at once: keys that are already typed belong here

    def tell(self, problem: QueryError | None) -> None:
        """Show the problem below the query, at its position; None hides it."""
        line = self.screen.query_one(SearchProblem)
        line.display = problem is not None and bool(self.display)
        if problem is not None:
            begin = len(self.value) - len(self.value.lstrip())
            place = cell_len(self.value[: begin + problem.position]) - self.scroll_offset.x
            line.update(f"{' ' * max(0, place)}▲\n{visible_line(str(problem))}")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self.mode, event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Left(self.mode, True))

    def action_leave(self) -> None:
        """Go to the list and keep the search."""
        self.post_message(self.Left(self.mode, True))

    def action_give_up(self) -> None:
        """Clear the search or the filter."""
        self.post_message(self.Left(self.mode, False))
