"""Ask for confirmation, for a line of text, or for a query; invalid input is not accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from console.panes.query_input import QueryInput
from console.screens.dialog import Dialog
from console.session import Session
from console.widgets.completing_input import CompletingInput
from console.widgets.offers import Candidate, Offers
from mailstore.errors import QueryError
from mailstore.queries.query import parse

EMPTY = "Enter a query: words, from:, tag:, is:unread, …"


def anything(text: str) -> str:
    """Accept anything."""
    return ""


class Prompt(Dialog[str | None]):
    """Returns what was typed, stripped; None if it was cancelled.

    `check` returns what is wrong with a text; empty if it is valid.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave")]

    def __init__(
        self,
        question: str,
        *,
        value: str = "",
        detail: str = "",
        candidates: Callable[[], list[Candidate]] = list,
        check: Callable[[str], str] = anything,
    ) -> None:
        super().__init__()
        self._question = question
        self._value = value
        self._detail = detail
        self._candidates = candidates
        self._check = check

    def compose(self) -> ComposeResult:
        offers = Offers()
        with Vertical(id="ask"):
            yield Static(self._question, id="ask-question", markup=False)
            yield self.field(self._value, offers)
            yield offers
            yield Static(self._detail, id="ask-detail", markup=False)
            yield Static("Enter: confirm · Esc: cancel", id="ask-keys", markup=False)

    def field(self, value: str, offers: Offers) -> Input:
        """Return the input."""
        return CompletingInput(self._candidates, offers, value=value, id="ask-input", compact=True, is_alone=True)

    def on_mount(self) -> None:
        """Focus the input."""
        self.query_one("#ask-input", Input).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._tell(self._detail)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        problem = self._check(text)
        if problem:
            self._tell(problem)
        else:
            self.dismiss(text)

    def _tell(self, words: str) -> None:
        below = self.query_one("#ask-detail", Static)
        if below.content != words:  # else each key would lay the screen out
            below.update(words)

    def action_leave(self) -> None:
        """Cancel."""
        self.dismiss(None)


class QueryPrompt(Prompt):
    """Returns a valid query; an empty one only if `may_be_empty`."""

    def __init__(
        self, session: Session, question: str, *, value: str = "", detail: str = "", may_be_empty: bool = False
    ) -> None:
        super().__init__(question, value=value, detail=detail, check=self._wrong)
        self._session = session
        self._may_be_empty = may_be_empty

    def _wrong(self, text: str) -> str:
        try:
            parse(text, self._session.now())
        except QueryError as error:
            return str(error)
        return "" if text or self._may_be_empty else EMPTY

    def field(self, value: str, offers: Offers) -> Input:
        """Return an input that completes queries."""
        return QueryInput(self._session, offers, value=value, id="ask-input")
