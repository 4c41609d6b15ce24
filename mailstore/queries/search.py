"""Search messages: evaluate a query on headers first, and on texts only where needed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

from mailstore.errors import StoreError
from mailstore.queries.query import STATE_OF, All, Either, Field, Not, Query, Words
from mailstore.records.address import Kind, is_channel, resolve
from mailstore.records.message import Message
from mailstore.records.protocol import LEAST_PREFIX
from mailstore.records.scope import label_of
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps, at_once

__all__ = ["SearchContext", "judged", "look_up", "looked_up", "needed", "search"]

CODE = ("```", "~~~")
LOOKED_AT = 32
"""How many messages to examine between yields: a millisecond or two."""
TEXTS_AT_ONCE = 256
"""How many texts to read at once."""


class SearchContext:
    """What a query is evaluated on: the mailbox, the texts (`body` returns one, empty if it is gone), and the time."""

    def __init__(self, mailbox: Mailbox, body: Callable[[Message], str], now: float) -> None:
        self._mailbox = mailbox
        self._body = body
        self._now = now

    @property
    def mailbox(self) -> Mailbox:
        """Return the mailbox that is searched."""
        return self._mailbox

    def matches(self, query: Query, message: Message) -> bool:
        """Return whether a message matches a query; reads its text if needed."""
        found = self.decided(query, message)
        return found if isinstance(found, bool) else self.text_holds(message, found)

    def text_holds(self, message: Message, query: Query | bool) -> bool:
        """Return whether a message's text matches the rest of a query; blocks, and doesn't use the mailbox."""
        return query if isinstance(query, bool) else holds(query, self._body(message).casefold())

    def decided(self, query: Query, message: Message) -> bool | Query:
        """Return whether a message matches a query, or the part of the query that its text must match."""
        match query:
            case Words(text):
                return self._has_words(text.casefold(), message) or query
            case Not(part):
                found = self.decided(part, message)
                return not found if isinstance(found, bool) else Not(found)
            case All(parts) | Either(parts):
                is_all = isinstance(query, All)
                left: list[Query] = []
                for part in parts:
                    found = self.decided(part, message)
                    if not isinstance(found, bool):
                        left.append(found)
                    elif found is not is_all:
                        return found
                return (All if is_all else Either)(tuple(left)) if left else is_all
            case Field(name):
                return query if name == "has" else self._has(query, message)

    def _has_words(self, words: str, message: Message) -> bool:
        if words.startswith("@") and words[1:] in (name.casefold() for name in message.mentions):
            return True
        header = (message.subject, message.id, message.sender, *message.recipients, *message.tags)
        return any(words in text.casefold() for text in header)

    def _has(self, field: Field, message: Message) -> bool:
        value = field.value.casefold()
        mailbox = self._mailbox
        match field.name:
            case "from":
                return self._is_name(value, message.sender)
            case "to":
                names = (*message.recipients, *mailbox.bare_states(message, self._now))
                return any(self._is_name(value, name) for name in names)
            case "tag":
                return any(self._is_tag(value.removeprefix("#"), name) for name in (*message.recipients, *message.tags))
            case "role":
                return value in (name.removeprefix("role:").casefold() for name in message.recipients)
            case "type":
                return message.type.casefold() == value
            case "thread":
                return mailbox.root_of(field.value) == mailbox.root_of(message.id)
            case "store":
                return label_of(message.id).casefold() == value
            case "subject":
                return value in message.subject.casefold()
            case "before":
                return message.timed and message.time < field.time
            case "after":
                return message.timed and message.time >= field.time
            case _:
                return self._is(value, message)

    def _is_tag(self, wanted: str, name: str) -> bool:
        folded = name.casefold()
        return wanted == folded or (is_channel(name) and wanted == folded.partition(":")[2])

    def _is_name(self, wanted: str, name: str) -> bool:
        agent = self._mailbox.roster.get(name)
        names = (name, agent.name, *agent.roles()) if agent else (name,)
        if self._mailbox.roster.scopes:
            names = (*names, *(known.partition("/")[2] for known in names))
        bare = wanted.removeprefix("#").removeprefix("@")
        folded = [known.casefold() for known in names if known]
        if any(bare == known or (":" in known and bare == known.partition(":")[2]) for known in folded):
            return True
        return len(bare) >= LEAST_PREFIX and name.casefold().startswith(bare)

    def _is(self, claim: str, message: Message) -> bool:
        mailbox = self._mailbox
        if claim == "archived":
            return message.archived or State.ARCHIVED in mailbox.bare_states(message, self._now).values()
        if claim == "unseen":
            return mailbox.is_unseen(message)
        if claim in ("starred", "muted", "snoozed"):
            own = {"starred": mailbox.is_starred, "muted": mailbox.is_muted, "snoozed": mailbox.is_snoozed}
            return own[claim](message)
        if claim == "mentioned":
            mentioned = (resolve(name, mailbox.roster, mailbox.user) for name in message.mentions)
            return any(address.kind is Kind.USER for address in mentioned)
        return STATE_OF[claim] in mailbox.bare_states(message, self._now).values()


def holds(query: Query, text: str) -> bool:
    """Return whether a message's case-folded text matches the rest of a query (`SearchContext.decided`)."""
    match query:
        case Words(words):
            return words.casefold() in text
        case Not(part):
            return not holds(part, text)
        case All(parts):
            return all(holds(part, text) for part in parts)
        case Either(parts):
            return any(holds(part, text) for part in parts)
        case Field(_, part):
            return _has_part(part.casefold(), text)


def _has_part(part: str, text: str) -> bool:
    if part == "code":
        return any(fence in text for fence in CODE) or "\n    " in text
    return "attachment:" in text or "](file:" in text or "![" in text


def cost(query: Query) -> int:
    """Return the cost of evaluating a part: headers 0, states 1, texts 2."""
    match query:
        case Field(name):
            return 2 if name == "has" else 1 if name in ("is", "to") else 0
        case Words():
            return 2
        case Not(part):
            return cost(part)
        case All(parts) | Either(parts):
            return max((cost(part) for part in parts), default=0)


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


def needed(query: Query) -> tuple[str, ...]:
    """Return words of which every match contains at least one, in header or text; empty if unknown."""
    match query:
        case Words(text) | Field("subject", text):
            return (text,)
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
                more = BackgroundWork(lambda: next(hints, None))
                yield more
                while (ids := _told(more)) is not None:
                    fresh = [message_id for message_id in dict.fromkeys(ids) if message_id not in seen]
                    seen.update(fresh)
                    yield from judged(filter(None, map(mailbox.message, fresh)), asked, context)
                    more = BackgroundWork(lambda: next(hints, None))
                    yield more
                if not more.failed:
                    return
            # without hints from the store, every message is examined
    yield from judged((message for message in mailbox.newest() if message.id not in seen), asked, context)


def _told(more: BackgroundWork[list[str] | None]) -> list[str] | None:
    return None if isinstance(more.failed, StoreError) else more.found()


def judged(messages: Iterable[Message], query: Query, context: SearchContext) -> Steps[list[Message]]:
    """Yield the matches among some messages, a few at a time; texts are read in a worker where needed."""
    asked, every = cheapest_first(query), iter(messages)
    left: list[tuple[Message, bool | Query]] = []
    while some := list(islice(every, LOOKED_AT)):
        found = ((message, context.decided(asked, message)) for message in some)
        left += [each for each in found if each[1] is not False]
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
        lambda: [each for each, wanted in left if wanted is True or context.text_holds(each, wanted)]
    )
    yield reading
    yield reading.found()
