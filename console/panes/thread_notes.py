"""Notes that replace a thread's participants: why a message is dead, or what mail is on hold for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mailstore.records.message import by_age
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

if TYPE_CHECKING:
    from mailstore.queries.concerns import Concern

ThreadNote = tuple[str, State]
"""A text, and the state whose glyph and colour it has."""


def notes_for(
    mailbox: Mailbox, view: View, now: float, concerns: Mapping[str, Concern]
) -> Callable[[str], ThreadNote | None]:
    """Return the function that returns a thread's note in a view, or None if there is none.

    `concerns` are those that need attention, by thread.
    """
    match view.kind:
        case "attention":
            return lambda root: _concern(concerns.get(root))
        case "dead":
            return lambda root: _cause(mailbox, root, now)
        case "waiting":
            return lambda root: _vacancy(mailbox, root)
        case "for-you":
            return lambda root: _answer(mailbox, root)
        case _:
            return lambda root: None


def _concern(concern: Concern | None) -> ThreadNote | None:
    if concern is None:
        return None
    from console.words.concern_words import line_of

    return line_of(concern), concern.state or State.UNREAD


def _cause(mailbox: Mailbox, root: str, now: float) -> ThreadNote | None:
    messages = mailbox.dead_letters_in(root, now)
    return (f"{messages[0].recipient}: {messages[0].reason}", messages[0].state) if messages else None


def _vacancy(mailbox: Mailbox, root: str) -> ThreadNote | None:
    roles = mailbox.waiting_in(root)
    if not roles:
        return None
    held = mailbox.roster.held(roles[-1])
    return f"on hold, no holder: {roles[-1]}" + (f", last {held[-1]}" if held else ", never held"), State.WAITING


def _answer(mailbox: Mailbox, root: str) -> ThreadNote | None:
    """Return whether the user has answered the newest message to them in a thread."""
    mail = sorted(mailbox.thread_messages(root), key=by_age)
    to_you = [at for at, message in enumerate(mail) if mailbox.is_mine(message)]
    if not to_you:
        return None
    asked = mail[to_you[-1]]
    if any(message.sender == mailbox.user for message in mail[to_you[-1] + 1 :]):
        return f"answered · {asked.sender}", State.READ
    if asked.type == "question":
        return f"waiting for your answer · {asked.sender}", State.UNREAD
    return None
