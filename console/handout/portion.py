"""Limit how much unread mail is printed at a time: what a model did not see must not be recorded as read.

Only whole messages are printed, urgent ones first, then the oldest; one that is too long is cut, comes last and stays
unread. So does one whose text can't be read, which is not printed. Imports very little: a hook prints mail at every
start of an agent.
"""

from __future__ import annotations

from console.handout.fence import UnreadMessage, around, fenced, header
from mailstore.rules.urgency import is_urgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from mailstore.quick_answers import QuickMessage
    from mailstore.records.message import Message

    Mail = Sequence[Message] | Sequence[QuickMessage]

MOST_CHARACTERS = 8000
"""The default limit for one output."""
LONGEST_EXCERPT = 2000
"""Characters of a message that is too long: it is printed each time until it was read in full."""
LONGEST_FIELD = 160
AFTER_CUT = " again once the last one is marked as read"
PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-")
"""Characters that need no quotes in a shell."""


class Portion:
    """What is printed of some mail: `whole` are the places of the messages that go whole, `cut` that of the last one.

    `texts` are those of the whole ones; `rest` says what is not printed, and how to get it. `unreadable` are the
    places of those whose text can't be read.
    """

    __slots__ = ("_messages", "_reader", "cut", "rest", "texts", "unreadable", "whole")

    def __init__(
        self,
        reader: str,
        messages: dict[int, UnreadMessage],
        texts: dict[int, str],
        cut: int | None,
        rest: str,
        unreadable: list[int],
    ) -> None:
        self._reader = reader
        self._messages = messages
        self.whole = sorted(texts)
        self.texts = [texts[at] for at in self.whole]
        self.cut = cut
        self.rest = rest
        self.unreadable = unreadable

    def text(self) -> str:
        """Return the text for an agent to read; empty without mail."""
        shown = [*self.whole, *([] if self.cut is None else [self.cut])]
        return fenced(self._reader, [self._messages[at] for at in shown], self.rest) if shown else self.rest

    def left_out(self) -> list[str]:
        """Return notes about what is left out, for output that holds whole messages only."""
        cut = [] if self.cut is None else [f"a message is too long: {self._messages[self.cut].cut}"]
        return [*([self.rest] if self.rest else ()), *cut]


def unproven(message: Any, text: str) -> str:
    """Return that nothing is known of who wrote a message."""
    return ""


def portion(
    reader: str,
    mail: Mail,
    texts_of: Callable[[list[int]], Iterable[str | None]],
    most: int = MOST_CHARACTERS,
    *,
    more: int = 0,
    store: str = "",
    proof_of: Callable[[Any, str], str] = unproven,
) -> Portion:
    """Return what is printed of unread mail, which is given the oldest first; `most` in characters, 0 for all of it.

    `texts_of` returns the texts of the mail at some places, which are read no further than is needed, None for one that
    can't be read. `more` is how much unread mail there is besides; `store` is the mailbox as it was given. `proof_of`
    returns by what it is known that the user wrote a message with a text.
    """
    again = typed("check", "--as", reader, store=store)
    total = len(mail) + more
    above, fences = around(reader, total, _rest(total, f"{again}{AFTER_CUT}"))
    room = most - above
    order = sorted(range(len(mail)), key=lambda at: not is_urgent(mail[at].sender, mail[at].type, mail[at].tags))
    messages: dict[int, UnreadMessage] = {}
    texts: dict[int, str] = {}
    long: tuple[int, str] | None = None
    is_full = False
    unreadable: list[int] = []
    for at, text in zip(order, texts_of(order), strict=True):
        if text is None:
            unreadable.append(at)
            continue
        is_short = not most or len(text) <= most
        message = UnreadMessage(header(mail[at], proof_of(mail[at], text)), text) if is_short else None
        size = most + 1 if message is None else len(message.text) + fences
        if message is None or (most and size > most):
            if long is None:
                long = at, text
                room -= _size(_cut(reader, mail[at], text, 0, store)) + fences
        elif most and size > room and messages:
            is_full = True
            break
        else:
            messages[at], texts[at] = message, text
            room -= size
    cut = None
    if long is not None:
        cut, text = long
        messages[cut] = _cut(reader, mail[cut], text, room, store)
    left = total - len(messages)
    is_more = is_full or more > 0 or len(unreadable) == left
    rest = _rest(left, again if is_more else f"{again}{AFTER_CUT}", len(unreadable)) if left else ""
    if not messages and unreadable:
        one = f"{len(unreadable)} unread message{'s' * (len(unreadable) != 1)}"
        rest = f"The text of {one} can't be read now: run {again} later"
    return Portion(reader, messages, texts, cut, rest, unreadable)


def _rest(number: int, command: str, unreadable: int = 0) -> str:
    is_one = number == 1
    why = f" ({unreadable} can't be read now)" if unreadable else ""
    return f"{number} more {'was' if is_one else 'were'} left out and stay{'s' * is_one} unread{why}: run {command}"


def _cut(reader: str, message: Message | QuickMessage, text: str, room: int, store: str) -> UnreadMessage:
    """Return the beginning of a message in at most `room` printed characters, and how to read it in full."""
    fields = {name: value[:LONGEST_FIELD] for name, value in header(message).items()}
    kept = text[: min(max(room, 0), LONGEST_EXCERPT)]
    while kept and (size := len(UnreadMessage(fields, kept).text) - len(UnreadMessage(fields, "").text)) > room:
        kept = kept[: len(kept) * max(room, 0) // size]
    how = f"whole: {typed('check', '--as', reader, '--max-chars', '0', store=store)}"
    if message.id.isprintable() and not message.id.startswith("-"):
        mark = typed("mark-read", "--as", reader, message.id, store=store)
        how = f"whole: {typed('thread', message.id, store=store)}; once read: {mark}"
    out = len(text) - len(kept)
    return UnreadMessage(fields, kept, f"{out:,} of {len(text):,} characters are left out, and it stays unread; {how}")


def _size(message: UnreadMessage) -> int:
    return len(message.text) + len(message.cut) + len(", cut: ")


def typed(*words: str, store: str = "") -> str:
    """Return a command as it is typed in a shell."""
    words = ("signalbox", *words, *(("--store", store) if store else ()))
    if all(word and PLAIN.issuperset(word) for word in words):
        return " ".join(words)
    from shlex import join

    return join(words)
