"""The input for searches and filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message as Note
from textual.strip import Strip
from textual.widgets import Input, Static

from console.panes.footer import FooterKey
from console.panes.query_completion import HELP
from console.panes.query_input import QueryInput
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.session import Session
from console.widgets.offers import Offers
from mailstore.errors import QueryError

if TYPE_CHECKING:
    from console.search.history import SearchHistory

Mode = Literal["search", "filter"]
PLACEHOLDER = {"search": "search: words, fields; tab completes", "filter": "filter this list"}
SEARCH_KEYS = (
    FooterKey("enter", "to the hits"),
    FooterKey("esc", "clear"),
    FooterKey("tab", "complete"),
    FooterKey("↑", "earlier query"),
)
FILTER_KEYS = SEARCH_KEYS[:2]
"""What the footer names while a query is typed: messages are text."""
LONGEST = 300
"""Characters of a problem, which may repeat what was typed."""


class SearchProblem(Static):
    """The lines below the search: where its query is invalid, and why."""


class SearchBar(QueryInput):
    """Searches or filters while typing; Enter goes to the results, Escape clears.

    Tab completes, and again takes the next candidate; Up and Down go through earlier queries.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "close", show=False),
        Binding("down", "newer", "newer query, or hits", show=False),
        Binding("up", "older", "older query", show=False),
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

    def __init__(self, session: Session, offers: Offers, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(session, offers, id=id)
        self.mode: Mode = "search"
        self._history: SearchHistory | None = None

    @property
    def keys(self) -> tuple[FooterKey, ...]:
        """The keys that act in the bar."""
        return FILTER_KEYS if self.mode == "filter" else SEARCH_KEYS

    def begin(self, mode: Mode, text: str, history: SearchHistory) -> None:
        """Open the input for a search or a filter."""
        self.mode = mode
        self._history = history
        history.begin()
        self.placeholder = PLACEHOLDER[mode]
        with self.prevent(Input.Changed):
            self.value = text
        self.display = True
        self.tell(None)
        self.screen.set_focus(self)  # at once: keys that are already typed belong here
        self.offer()

    def tell(self, problem: QueryError | None) -> None:
        """Show the problem below the query, at its position; None hides it."""
        line = self.screen.query_one(SearchProblem)
        line.display = problem is not None and bool(self.display)
        if problem is not None:
            begin = len(self.value) - len(self.value.lstrip())
            place = cell_len(self.value[: begin + problem.position]) - self.scroll_offset.x
            line.update(f"{' ' * max(0, place)}▲\n{shorten_end(visible_line(str(problem)[:LONGEST]), LONGEST)}")

    @property
    def is_completed(self) -> bool:
        """Whether candidates are offered: in an empty search, everything that can be written."""
        return self.mode == "search"

    # Typing and leaving

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        text = "" if event.value.strip() == HELP else event.value
        self.post_message(self.Typed(self.mode, text))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave(is_kept=True)

    def action_older(self) -> None:
        """Show the query that was used before this one."""
        if self._history is not None and self.mode == "search":
            self._recall(self._history.older(self.value))

    def action_newer(self) -> None:
        """Show the query that was used after this one; after the newest, go to the list and keep the search."""
        text = self._history.newer(self.value) if self._history is not None and self.mode == "search" else None
        if text is None:
            self._leave(is_kept=True)
        else:
            self._recall(text)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.put(text)
            self.completion.hide()

    def action_give_up(self) -> None:
        """Clear the search or the filter."""
        self._leave(is_kept=False)

    def _leave(self, *, is_kept: bool) -> None:
        if self.value.strip() == HELP:
            self.value = ""
        self.post_message(self.Left(self.mode, is_kept))

    def render_line(self, y: int) -> Strip:
        """Render the value, with control characters made visible."""
        strip = super().render_line(y)
        shown = [Segment(visible_line(text), style, control) for text, style, control in strip]
        return Strip(shown).adjust_cell_length(strip.cell_length)
