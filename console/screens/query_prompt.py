"""Ask for a query, which is completed as it is typed."""

from __future__ import annotations

from textual.widgets import Input

from console.panes.query_input import QueryInput
from console.screens.prompt import Prompt
from console.session import Session
from console.widgets.offers import Offers
from mailstore.errors import QueryError
from mailstore.queries.query import parse

EMPTY = "Enter a query: words, from:, tag:, is:unread, …"


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
