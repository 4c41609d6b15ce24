"""What every search in the console is evaluated on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mailstore.errors import StoreError
from mailstore.queries.search_context import SearchContext

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.records.message import Message


def search_context(session: Session) -> SearchContext:
    """Return what queries are evaluated on: the mailbox that is shown, and its records."""
    store = session.store

    def text(message: Message) -> str:
        try:
            return store.search_text(message)
        except StoreError:
            return ""

    return SearchContext(session.mailbox, text, session.now())
