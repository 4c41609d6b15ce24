"""What the user's saved searches find, each by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mailstore.columns.lists import MarkedRows
from mailstore.errors import QueryError
from mailstore.queries.query import parse
from mailstore.queries.search import Candidates, asks_for_archived, looked_up
from mailstore.queries.search_context import SearchContext
from mailstore.records.message import Message, by_age
from mailstore.steps import Steps


class SavedViewHits(NamedTuple):
    """What one saved search finds: each thread's newest hit, the newest first, and numbers of messages; `rows` are all.

    `problem` says why a query can't be read; it finds nothing then.
    """

    hits: dict[str, Message]
    messages: int = 0
    unseen: int = 0
    problem: str = ""
    rows: MarkedRows | None = None


def run_saved_views(
    context: SearchContext, now: float, views: Mapping[str, str], candidates: Candidates
) -> Steps[tuple[str, SavedViewHits]]:
    """Run every saved search over a mailbox, in steps; yield its name and what it finds. Raises MailboxReloaded."""
    mailbox = context.mailbox
    for name, text in views.items():
        try:
            query = parse(text, now)
        except QueryError as error:
            yield name, SavedViewHits({}, problem=str(error))
            continue
        steps, has_archived = looked_up(query, context, candidates), asks_for_archived(query)
        hits: dict[str, Message] = {}
        number = unseen = 0
        rows = MarkedRows(mailbox.contents.messages)
        try:
            for step in steps:
                if not isinstance(step, list):
                    yield step
                    continue
                step = [message for message in step if has_archived or not message.archived]
                rows.add(message.id for message in step)
                for message in step:
                    root = mailbox.root_of(message.id)
                    if root not in hits or by_age(message) > by_age(hits[root]):
                        hits[root] = message
                    number += 1
                    unseen += mailbox.is_new(message)
        except QueryError as error:  # a pattern that takes too long
            yield name, SavedViewHits({}, problem=str(error))
            continue
        newest = sorted(hits.items(), key=lambda hit: by_age(hit[1]), reverse=True)
        yield name, SavedViewHits(dict(newest), number, unseen, rows=rows)
