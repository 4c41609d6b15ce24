"""What the person's saved searches find, each by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mailstore.errors import QueryError
from mailstore.mailbox import Mailbox, by_time
from mailstore.message import Message
from mailstore.query import parse
from mailstore.search import SearchContext, search

__all__ = ["Found", "find"]


class Found(NamedTuple):
    """What one saved search finds: each thread's newest hit, the newest first, and numbers of messages.

    `problem` says why a query can't be read; it finds nothing then.
    """

    hits: dict[str, Message]
    messages: int = 0
    unseen: int = 0
    problem: str = ""


def find(
    mailbox: Mailbox, body: Callable[[Message], str], now: float, views: Mapping[str, str], messages: Iterable[Message]
) -> dict[str, Found]:
    """Run every saved search over some messages; blocks for as long as their texts take to read."""
    newest = sorted(messages, key=by_time, reverse=True)
    context = SearchContext(mailbox, body, now)
    return {name: _found(mailbox, text, newest, context, now) for name, text in views.items()}


def _found(mailbox: Mailbox, text: str, newest: list[Message], context: SearchContext, now: float) -> Found:
    try:
        query = parse(text, now)
    except QueryError as error:
        return Found({}, problem=str(error))
    hits: dict[str, Message] = {}
    number = unseen = 0
    for message in search(newest, query, context):
        hits.setdefault(mailbox.root_of(message.id), message)
        number += 1
        unseen += mailbox.is_unseen(message)
    return Found(hits, number, unseen)
