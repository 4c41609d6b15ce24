"""What the person's saved searches find, each by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import NamedTuple

from mailstore.errors import QueryError
from mailstore.mailbox import Mailbox
from mailstore.message import Message, by_age
from mailstore.query import parse
from mailstore.search import Candidates, SearchContext, look_up

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
    mailbox: Mailbox, body: Callable[[Message], str], now: float, views: Mapping[str, str], candidates: Candidates
) -> dict[str, Found]:
    """Run every saved search over a mailbox; blocks for as long as their texts take to read."""
    context = SearchContext(mailbox, body, now)
    return {name: _found(mailbox, text, candidates, context, now) for name, text in views.items()}


def _found(mailbox: Mailbox, text: str, candidates: Candidates, context: SearchContext, now: float) -> Found:
    try:
        query = parse(text, now)
    except QueryError as error:
        return Found({}, problem=str(error))
    hits: dict[str, Message] = {}
    number = unseen = 0
    for message in chain.from_iterable(look_up(query, context, candidates)):
        root = mailbox.root_of(message.id)
        if root not in hits or by_age(message) > by_age(hits[root]):
            hits[root] = message
        number += 1
        unseen += mailbox.is_unseen(message)
    newest = sorted(hits.items(), key=lambda hit: by_age(hit[1]), reverse=True)
    return Found(dict(newest), number, unseen)
