"""Evaluate queries: what they are evaluated on, and what they find, thread by thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct

from console.running.stepping import stepped
from mailstore.columns.lists import MarkedRows
from mailstore.queries.search_context import SearchContext
from mailstore.records.message import Message, by_age

if TYPE_CHECKING:
    from console.session import Session
    from mailstore.queries.grouping import HitCounts
    from mailstore.queries.query import Query


def search_context(session: Session) -> SearchContext:
    """Return what queries are evaluated on: the mailbox that is shown, and its records."""
    return SearchContext(session.mailbox, session.store.search_text, session.now())


FIRST = 50
"""How many threads are found before the first of them are shown."""
PAINTED_SECONDS = 0.03
"""How long a search rests after its first hits: they are painted with the processor to themselves."""
EVERY_SECONDS = 0.25
MOST = 2000
"""How many threads a search ends with: more than a user reads, and few enough to draw."""


class SearchHits(Struct, frozen=True):
    """What was found so far: the newest hit of each thread by its root, newest first, and the number of hits.

    With `is_cut` there are more hits, all older than these. Once all were found, `counts` has them by sender and the
    like, and `rows` are their messages. `unreadable_texts` is how many messages could not be read for it.
    """

    threads: dict[str, Message]
    number: int
    is_done: bool = False
    is_cut: bool = False
    counts: HitCounts | None = None
    rows: MarkedRows | None = None
    unreadable_texts: int = 0

    @property
    def older(self) -> str:
        """The query field that finds what is older than these hits, and those of their oldest second again."""
        oldest = min(message.time for message in self.threads.values())
        return f"before:{datetime.fromtimestamp(oldest + 1, UTC):%Y-%m-%dT%H:%M:%S}Z"


async def found_hits(session: Session, query: Query, context: SearchContext) -> AsyncGenerator[SearchHits]:
    """Yield what a query has found so far now and then, and at the end all of it. Raises MailboxReloaded."""
    from mailstore.queries.grouping import HitCounts
    from mailstore.queries.search import looked_up

    mailbox, messages, number = context.mailbox, dict[str, Message](), 0
    counts, rows = HitCounts(mailbox), MarkedRows(mailbox.contents.messages)
    shown, due = 0, 0.0
    steps = looked_up(query, context, session.store.candidates)
    async with aclosing(stepped(steps, session.rest)) as batches:
        async for batch in batches:
            for message in batch:
                root = mailbox.root_of(message.id)
                messages[root] = max(messages.get(root, message), message, key=by_age)
            number += len(batch)
            counts.add(batch)
            rows.add(message.id for message in batch)
            if len(messages) >= MOST:
                break
            if len(messages) > shown and (shown or len(messages) >= FIRST) and monotonic() >= due:
                is_first, shown, due = not shown, len(messages), monotonic() + EVERY_SECONDS
                yield SearchHits(_newest_first(messages), number)
                if is_first:
                    await asyncio.sleep(PAINTED_SECONDS)
    is_cut, unreadable_texts = len(messages) >= MOST, len(context.unreadable_texts)
    yield SearchHits(_newest_first(messages), number, True, is_cut, counts, rows, unreadable_texts)


def _newest_first(messages: dict[str, Message]) -> dict[str, Message]:
    return dict(sorted(messages.items(), key=lambda item: by_age(item[1]), reverse=True))
