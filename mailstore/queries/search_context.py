"""What a query is evaluated on: first on what the mailbox knows of a message, then on its text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from mailstore.errors import StoreError
from mailstore.queries.language.fields import KNOWN_TYPES
from mailstore.queries.language.tree import All, Either, Field, Not, Pattern, Query, Words
from mailstore.queries.questions import is_answered, is_request, threads_of
from mailstore.records.address import Kind, is_channel, resolve
from mailstore.records.message import Message
from mailstore.records.scope import SEPARATOR, label_of
from mailstore.rules.delivery import STATES, State
from mailstore.state.mailbox import Mailbox

IN_TEXTS = ("has", "larger")
"""Fields that are about the text of a message."""
CODE = ("```", "~~~")
SPACE = re.compile(r"\s+")


class SearchContext:
    """What a query is evaluated on: the mailbox, the texts (`body` returns one, or raises StoreError), and the time.

    `unreadable_texts` are the messages whose text could not be read; their text counts as empty.
    """

    def __init__(self, mailbox: Mailbox, body: Callable[[Message], str], now: float) -> None:
        self.unreadable_texts: set[str] = set()
        self._mailbox = mailbox
        self._body = body
        self._now = now
        self._names = NameMatcher(mailbox)
        self._thread_of = threads_of(mailbox)
        self._header: tuple[Message | None, str] = (None, "")
        """The message looked at last, and its case-folded header."""

    @property
    def mailbox(self) -> Mailbox:
        """Return the mailbox that is searched."""
        return self._mailbox

    @property
    def now(self) -> float:
        """The time that relative times count from."""
        return self._now

    def text(self, message: Message) -> str:
        """Return what a search looks at in a message besides its header; blocks, and doesn't use the mailbox."""
        try:
            return self._body(message)
        except StoreError:
            self.unreadable_texts.add(message.id)
            return ""

    def matches(self, query: Query, message: Message) -> bool:
        """Return whether a message matches a query; reads its text if needed."""
        verdict = self.decided(query, message)
        return verdict if isinstance(verdict, bool) else self.text_holds(message, verdict)

    def text_holds(self, message: Message, query: Query | bool) -> bool:
        """Return whether a message's text matches the rest of a query; blocks, and doesn't use the mailbox."""
        return query if isinstance(query, bool) else holds(query, self.text(message).casefold())

    def decided(self, query: Query, message: Message) -> bool | Query:
        """Return whether a message matches a query, or the part of the query that its text must match."""
        match query:
            case Words(text):
                return self._has_words(text.casefold(), message) or query
            case Pattern():
                return query.is_in(self._header_of(message)) or query
            case Not(part):
                verdict = self.decided(part, message)
                return not verdict if isinstance(verdict, bool) else Not(verdict)
            case All(parts) | Either(parts):
                is_all = isinstance(query, All)
                left: list[Query] = []
                for part in parts:
                    verdict = self.decided(part, message)
                    if not isinstance(verdict, bool):
                        left.append(verdict)
                    elif verdict is not is_all:
                        return verdict
                return (All if is_all else Either)(tuple(left)) if left else is_all
            case Field(name):
                if name in IN_TEXTS:
                    return has_files(query, message) or query
                return self._has(query, message)

    def _has_words(self, words: str, message: Message) -> bool:
        if words.startswith("@") and words[1:] in (name.casefold() for name in message.mentions):
            return True
        return words in self._header_of(message)

    def _header_of(self, message: Message) -> str:
        if self._header[0] is not message:  # a query may have thousands of words
            parts = (message.subject, message.id, message.sender, *message.recipients, *message.tags)
            self._header = message, "\n".join(parts).casefold()
        return self._header[1]

    def _has(self, field: Field, message: Message) -> bool:
        value, names = field.value.casefold(), self._names
        match field.name:
            case "from":
                return names.is_name(value, message.sender)
            case "to" if value.startswith("="):
                return any(names.is_name(value, name) for name in message.recipients)
            case "to":
                reached = (*message.recipients, *self._mailbox.bare_states(message, self._now))
                return any(names.is_name(value, name) for name in reached)
            case "tag":
                return any(names.is_tag(value, name) for name in (*message.recipients, *message.tags))
            case "role":
                return any(names.is_role(value, name) for name in message.recipients)
            case "type":
                return begins(value, message.type.casefold(), is_known=value in KNOWN_TYPES)
            case "id":
                return begins(value, message.id.casefold()) or begins(value, bare_id(message.id).casefold())
            case "thread":
                root = self._mailbox.root_of(message.id)
                return self._mailbox.root_of(field.value) == root or begins(value, bare_id(root).casefold())
            case "store":
                return begins(value, label_of(message.id).casefold())
            case "subject":
                return value in message.subject.casefold()
            case "before" | "after" | "on":
                return message.timed and is_within(field, message.time)
            case _:
                return self._is(value, message)

    def _is(self, claim: str, message: Message) -> bool:
        mailbox = self._mailbox
        if claim == "archived":
            return message.archived or State.ARCHIVED in mailbox.bare_states(message, self._now).values()
        if claim == "question":
            return is_request(message)
        if claim == "answered":
            return is_answered(mailbox, message, self._thread_of, self._now)
        if claim == "unseen":
            return mailbox.is_unseen(message)
        if claim in ("starred", "muted", "snoozed"):
            own = {"starred": mailbox.is_starred, "muted": mailbox.is_muted, "snoozed": mailbox.is_snoozed}
            return own[claim](message)
        if claim == "mentioned":
            mentioned = (resolve(name, mailbox.roster, mailbox.user) for name in message.mentions)
            return any(address.kind is Kind.USER for address in mentioned)
        return STATES[claim] in mailbox.bare_states(message, self._now).values()


def bare_id(message_id: str) -> str:
    """Return a message's id without the mailbox before it."""
    return message_id.removeprefix(f"{label}{SEPARATOR}") if (label := label_of(message_id)) else message_id


def has_files(field: Field, message: Message) -> bool:
    """Return whether a message has attached files and a query asks for that; without such, its text may link one."""
    is_asked = field.value.casefold() == "attachment"
    return is_asked and any(tag.removeprefix("!").startswith("attachment") for tag in message.tags)


def is_within(field: Field, moment: float) -> bool:
    """Return whether a moment is in the time that `before:`, `after:` or `on:` names."""
    if field.name == "before":
        return moment < field.time
    return moment >= field.time and (field.name == "after" or moment < field.end)


def holds(query: Query, text: str) -> bool:
    """Return whether a message's case-folded text matches the rest of a query (`SearchContext.decided`).

    Raises QueryError for a pattern that takes too long.
    """
    match query:
        case Words(words):
            return has_words(words.casefold(), text)
        case Pattern():
            return query.is_in(text)
        case Not(part):
            return not holds(part, text)
        case All(parts):
            return all(holds(part, text) for part in parts)
        case Either(parts):
            return any(holds(part, text) for part in parts)
        case Field("larger"):
            return len(text) > query.size
        case Field(_, part):
            return _has_part(part.casefold(), text)


def has_words(words: str, text: str) -> bool:
    """Return whether a case-folded text has words; those of a phrase may be on two lines."""
    if words in text:
        return True
    return SPACE.search(words) is not None and SPACE.sub(" ", words) in SPACE.sub(" ", text)


def _has_part(part: str, text: str) -> bool:
    if part == "code":
        return any(fence in text for fence in CODE) or "\n    " in text
    if part == "link":
        return "http://" in text or "https://" in text
    return "attachment:" in text or "](file:" in text or "![" in text


def begins(wanted: str, name: str, *, is_known: bool = False) -> bool:
    """Return whether a name is what is wanted, or begins with it unless that is known as a name itself."""
    if wanted.startswith("="):
        return name == wanted[1:]
    return name == wanted or (not is_known and bool(wanted) and name.startswith(wanted))


class NameMatcher:
    """Knows by which names agents and channels are called; for as long as one query is evaluated."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._forms: dict[str, tuple[str, ...]] = {}
        self._tag_forms: dict[str, tuple[str, ...]] = {}

    def is_name(self, wanted: str, name: str) -> bool:
        """Return whether a sender or recipient is meant; `wanted` is case-folded."""
        if wanted.startswith("="):
            return name.casefold() == wanted[1:]
        bare = wanted.removeprefix("#").removeprefix("@")
        is_known = bare in self._known
        return bool(bare) and any(begins(bare, form, is_known=is_known) for form in self._names(name))

    def is_role(self, wanted: str, name: str) -> bool:
        """Return whether an address is the role that is meant; `wanted` is case-folded."""
        address = resolve(name, self._mailbox.roster, self._mailbox.user)
        if address.kind not in (Kind.ROLE, Kind.UNKNOWN):
            return False
        role = (address.role or name).removeprefix("role:")
        return any(begins(wanted, form, is_known=wanted in self._roles) for form in self._folded((role,)))

    def is_tag(self, wanted: str, name: str) -> bool:
        """Return whether a tag or a channel is meant; `wanted` is case-folded."""
        bare = wanted.removeprefix("#")
        is_known = bare in self._tags
        return bool(bare) and any(begins(bare, form, is_known=is_known) for form in self._tag_names(name))

    @cached_property
    def _known(self) -> frozenset[str]:
        """Every name of an agent, a role, a channel or the user."""
        agents = {form for agent in self._mailbox.roster for form in self._names(agent.session_id)}
        return frozenset(agents) | self._roles | self._tags | {self._mailbox.user.casefold(), "all"}

    @cached_property
    def _roles(self) -> frozenset[str]:
        return frozenset(self._folded(tuple(self._mailbox.roster.roles())))

    @cached_property
    def _tags(self) -> frozenset[str]:
        tags = {channel.tag for channel in self._mailbox.channels()}
        return frozenset(form for tag in tags for form in self._tag_names(tag))

    def _names(self, name: str) -> tuple[str, ...]:
        forms = self._forms.get(name)
        if forms is None:
            agent = self._mailbox.roster.get(name)
            names = (name, agent.name, *agent.roles()) if agent else (name,)
            forms = self._forms[name] = self._folded(names)
        return forms

    def _tag_names(self, tag: str) -> tuple[str, ...]:
        forms = self._tag_forms.get(tag)
        if forms is None:
            forms = self._tag_forms[tag] = self._folded((tag,)) if is_channel(tag) else (tag.casefold(),)
        return forms

    def _folded(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return names without regard to case, also without the mailbox and the kind before them."""
        if self._mailbox.roster.scopes:
            names = (*names, *(name.partition(SEPARATOR)[2] for name in names))
        folded = [name.casefold() for name in names if name]
        return tuple(dict.fromkeys([*folded, *(name.partition(":")[2] for name in folded if ":" in name)]))
