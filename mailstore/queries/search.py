"""Search messages: evaluate a query on headers first, and on texts only where needed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from time import monotonic

from mailstore.errors import StoreError
from mailstore.queries.language.tree import All, Either, Field, Not, Pattern, Query, Words
from mailstore.queries.search_context import IN_TEXTS, SearchContext
from mailstore.records.message import Message
from mailstore.steps import BackgroundWork, Steps, at_once

__all__ = ["SearchContext", "asks_for_archived", "judged", "look_up", "looked_up", "needed", "search"]

LOOKED_AT = 32
"""How many messages to examine between yields: a millisecond or two."""
USUAL_PARTS = 16
"""Parts of a query; of longer ones, fewer messages are examined at once."""
TEXTS_AT_ONCE = 256
"""How many texts to read at once."""
HINT_SECONDS = 0.005
"""How long to wait for a store's next hints before the caller may stop."""


def cost(query: Query) -> int:
    """Return the cost of evaluating a part: headers 0, states 1, texts 2."""
    match query:
        case Field(name):
            return 2 if name in IN_TEXTS else 1 if name in ("is", "to") else 0
        case Words() | Pattern():
            return 2
        case Not(part):
            return cost(part)
        case All(parts) | Either(parts):
            return max((cost(part) for part in parts), default=0)


def size(query: Query) -> int:
    """Return the number of words and fields in a query."""
    match query:
        case Not(part):
            return size(part)
        case All(parts) | Either(parts):
            return sum(map(size, parts))
        case _:
            return 1


def cheapest_first(query: Query) -> Query:
    """Return an equal query with its parts ordered by cost."""
    match query:
        case Not(part):
            return Not(cheapest_first(part))
        case All(parts):
            return All(tuple(sorted(map(cheapest_first, parts), key=cost)))
        case Either(parts):
            return Either(tuple(sorted(map(cheapest_first, parts), key=cost)))
        case _:
            return query


def search(messages: Iterable[Message], query: Query, context: SearchContext) -> Iterator[Message]:
    """Yield the messages that match a query, in the given order."""
    asked = cheapest_first(query)
    return (message for message in messages if context.matches(asked, message))


def asks_for_archived(query: Query) -> bool:
    """Return whether a query is about archived messages: they are left out of other searches, unless asked for."""
    match query:
        case Field("is", value):
            return value.casefold() == "archived"
        case Not(part):
            return asks_for_archived(part)
        case All(parts) | Either(parts):
            return any(map(asks_for_archived, parts))
        case _:
            return False


def needed(query: Query) -> tuple[str, ...]:
    """Return words of which every match contains at least one, in header or text; empty if unknown."""
    match query:
        case Words(text) | Field("subject", text):
            return (text,)
        case Pattern(_, word):
            return (max(word.split(), key=len),) if word else ()
        case All(parts):
            known = [words for words in map(needed, parts) if words]
            return max(known, key=lambda words: min(map(len, words)), default=())
        case Either(parts):
            every = [needed(part) for part in parts]
            return tuple(word for words in every for word in words) if all(every) else ()
        case _:
            return ()


Candidates = Callable[[Sequence[str]], Generator[list[str]] | None]
"""A store's search hints for some words (see `Store.candidates`)."""


def look_up(query: Query, context: SearchContext, candidates: Candidates) -> Iterator[list[Message]]:
    """Yield the matches in a whole mailbox in batches, roughly the newest first; each message once.

    A batch may be empty, so that the caller can stop. The order is that of the store's candidates if it has any,
    otherwise the newest first. Blocks.
    """
    return at_once(looked_up(query, context, candidates))


def looked_up(query: Query, context: SearchContext, candidates: Candidates) -> Steps[list[Message]]:
    """Like `look_up`, in steps. Raises MailboxReloaded."""
    mailbox, asked = context.mailbox, cheapest_first(query)
    words = needed(query)
    seen: set[str] = set()
    if words:
        asking = BackgroundWork(lambda: candidates(words))
        yield asking
        if (hints := asking.found()) is not None:
            with closing(hints):
                more = BackgroundWork(lambda: _next_ids(hints))
                yield more
                while (ids := _hinted(more)) is not None:
                    fresh = [message_id for message_id in dict.fromkeys(ids) if message_id not in seen]
                    seen.update(fresh)
                    yield from judged(filter(None, map(mailbox.message, fresh)), asked, context)
                    more = BackgroundWork(lambda: _next_ids(hints))
                    yield more
                if not more.failed:
                    return
            # without hints from the store, every message is examined
    yield from judged((message for message in mailbox.newest() if message.id not in seen), asked, context)


def _next_ids(hints: Iterator[list[str]]) -> list[str] | None:
    """Return the next hints, none if there are none for a while; None at the end."""
    until = monotonic() + HINT_SECONDS
    while (ids := next(hints, None)) == [] and monotonic() < until:
        pass
    return ids


def _hinted(more: BackgroundWork[list[str] | None]) -> list[str] | None:
    return None if isinstance(more.failed, StoreError) else more.found()


def judged(messages: Iterable[Message], query: Query, context: SearchContext) -> Steps[list[Message]]:
    """Yield the matches among some messages, a few at a time; texts are read in a worker where needed."""
    asked, every = cheapest_first(query), iter(messages)
    left: list[tuple[Message, bool | Query]] = []
    number = max(1, LOOKED_AT * USUAL_PARTS // max(USUAL_PARTS, size(asked)))
    while some := list(islice(every, number)):
        decisions = ((message, context.decided(asked, message)) for message in some)
        left += [each for each in decisions if each[1] is not False]
        if len(left) >= TEXTS_AT_ONCE or all(wanted is True for _, wanted in left):
            yield from _settled(left, context)
            left = []
        else:
            yield None
    yield from _settled(left, context)


def _settled(left: list[tuple[Message, bool | Query]], context: SearchContext) -> Steps[list[Message]]:
    if all(wanted is True for _, wanted in left):
        yield [message for message, _ in left]
        return
    reading = BackgroundWork(
        lambda: [message for message, wanted in left if wanted is True or context.text_holds(message, wanted)]
    )
    yield reading
    yield reading.found()
