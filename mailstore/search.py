"""Finding messages: a query asked of headers first, and of texts only where that is not enough."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

from mailstore.address import Kind, is_channel, resolve
from mailstore.delivery import State
from mailstore.errors import StoreError
from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.query import STATE_OF, All, Either, Field, Not, Query, Words
from mailstore.scope import label_of

__all__ = ["SearchContext", "look_up", "needed", "search"]

CODE = ("```", "~~~")
LOOKED_AT = 256
"""How many messages are looked at before whoever searches hears of it."""
LEAST_PREFIX = 8
"""Characters of a session id that stand for all of it (formats/haak.md 7)."""


class SearchContext:
    """What a query asks of: the mailbox, the texts (`body` gives one, empty when it is gone), and the time."""

    def __init__(self, mailbox: Mailbox, body: Callable[[Message], str], now: float) -> None:
        self._mailbox = mailbox
        self._body = body
        self._now = now
        self._read: tuple[str, str] = ("", "")

    @property
    def mailbox(self) -> Mailbox:
        """Return the mailbox that is asked."""
        return self._mailbox

    def text(self, message: Message) -> str:
        """Return a message's text, folded; the last one is kept, because a query asks for it several times."""
        if self._read[0] != message.id:
            self._read = (message.id, self._body(message).casefold())
        return self._read[1]

    def matches(self, query: Query, message: Message) -> bool:
        """Say whether a message is what a query asks for."""
        match query:
            case Words(text):
                return self._has_words(text.casefold(), message)
            case Not(part):
                return not self.matches(part, message)
            case All(parts):
                return all(self.matches(part, message) for part in parts)
            case Either(parts):
                return any(self.matches(part, message) for part in parts)
            case Field():
                return self._has(query, message)

    def _has_words(self, words: str, message: Message) -> bool:
        if words.startswith("@") and words[1:] in (name.casefold() for name in message.mentions):
            return True
        header = (message.subject, message.id, message.sender, *message.recipients, *message.tags)
        return any(words in text.casefold() for text in header) or words in self.text(message)

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
            case "has":
                return self._has_part(value, message)
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

    def _has_part(self, part: str, message: Message) -> bool:
        text = self.text(message)
        if part == "code":
            return any(fence in text for fence in CODE) or "\n    " in text
        return "attachment:" in text or "](file:" in text or "![" in text

    def _is(self, claim: str, message: Message) -> bool:
        mailbox = self._mailbox
        if claim == "archived":
            return message.archived or State.ARCHIVED in mailbox.bare_states(message, self._now).values()
        if claim == "unseen":
            return mailbox.is_unseen(message)
        if claim == "mentioned":
            mentioned = (resolve(name, mailbox.roster, mailbox.user) for name in message.mentions)
            return any(address.kind is Kind.USER for address in mentioned)
        return STATE_OF[claim] in mailbox.bare_states(message, self._now).values()


def cost(query: Query) -> int:
    """Return how dear a part is to ask: headers first, states next, texts last."""
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
    """Return the same query with its parts in the order in which they are best asked."""
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
    """Yield the messages that a query finds, in the order in which they are given."""
    asked = cheapest_first(query)
    return (message for message in messages if context.matches(asked, message))


def needed(query: Query) -> tuple[str, ...]:
    """Return words of which every hit holds at least one, in header or text; none where nothing is known."""
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
"""What a store knows of some words (see `Store.candidates`)."""


def look_up(query: Query, context: SearchContext, candidates: Candidates) -> Generator[list[Message]]:
    """Yield what a query finds in all of a mailbox, about the newest first, in batches; each message once.

    A batch may be empty: it comes so that whoever searches can stop. The order is that of the store's candidates,
    where it has some; else the newest come first.
    """
    mailbox, asked = context.mailbox, cheapest_first(query)
    words = needed(query)
    hints = candidates(words) if words else None
    seen: set[str] = set()
    if hints is not None:
        try:
            with closing(hints):
                for ids in hints:
                    fresh = [message_id for message_id in dict.fromkeys(ids) if message_id not in seen]
                    seen.update(fresh)
                    messages = (message for each in fresh if (message := mailbox.message(each)) is not None)
                    yield [message for message in messages if context.matches(asked, message)]
            return
        except StoreError:
            pass  # what the store can't tell is looked for in every message
    every = mailbox.newest()
    while some := list(islice(every, LOOKED_AT)):
        yield [message for message in some if message.id not in seen and context.matches(asked, message)]
