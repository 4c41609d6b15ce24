"""What an agent leaves behind when its session ends: mail that it has not read, questions that are not answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from console.cli.loading import Loaded
from console.cli.output import OpenMailRow, OpenMessageRow
from console.cli.plain import columns, put
from console.handout.portion import typed
from console.hooks.sessions.printed import SEEN, printed_to
from console.render.short_text import age, shorten_end
from console.state.unread_mail import unread_mail
from mailstore.queries.questions import open_questions
from mailstore.records.message import Message

MOST_LISTED = 10
WIDEST_SUBJECT = 60


class Unfinished(NamedTuple):
    """Mail that concerns an agent, each the oldest first.

    `unread` is for it, without what its session has `seen` and will record; `asked` are questions to it that it has
    read and none of those who were asked has answered; `asking` are its own that have no answer.
    """

    unread: list[Message]
    asked: list[Message]
    asking: list[Message]
    seen: Sequence[Message] = ()

    def words(self, name: str) -> list[str]:
        """Return what there is, in a phrase for each kind; none for nothing."""
        phrases = (
            (self.unread, f"unread message{{s}} for {name}"),
            (self.asked, f"question{{s}} to {name} without an answer"),
            (self.asking, f"question{{s}} of {name} without an answer"),
        )
        return [f"{len(found)} {text.format(s='s' * (len(found) != 1))}" for found, text in phrases if found]


def unfinished(mail: Loaded, agent: str) -> Unfinished:
    """Return what an agent has not finished."""
    stages = printed_to(mail.store.url, agent, mail.now)
    mine = unread_mail(mail.store, mail.mailbox, agent, mail.now)
    unread = [message for message in mine if stages.get(message.id) != SEEN]
    known = {message.id for message in unread}
    questions = open_questions(mail.mailbox, mail.now)
    asked = [question.message for question in questions if agent in question.asked and agent != question.message.sender]
    asking = [question.message for question in questions if question.message.sender == agent]
    seen = [message for message in mine if stages.get(message.id) == SEEN]
    return Unfinished(unread, [message for message in asked if message.id not in known], asking, seen)


def print_unfinished(open_work: Unfinished, agent: str, store: str, now: float) -> None:
    """Print mail that concerns an agent, and the commands that deal with it; nothing if there is none."""
    read = typed("check", "--as", agent, store=store)
    reply = typed("send", "--from", agent, "--to", "SENDER", "--in-reply-to", "MESSAGE", store=store)
    parts = (
        (Unfinished(open_work.unread, [], []), f" ({read} prints them and records that they were read)"),
        (Unfinished([], open_work.asked, []), f" ({reply} answers)"),
        (Unfinished([], [], open_work.asking), ""),
    )
    for part, hint in parts:
        mail = [*part.unread, *part.asked, *part.asking]
        if not mail:
            continue
        put(f"{part.words(agent)[0]}, oldest first{hint}:")
        put(columns([_cells(message, now) for message in mail[:MOST_LISTED]], ("  age", "from", "to", "subject", "id")))
        if len(mail) > MOST_LISTED:
            put(f"  and {len(mail) - MOST_LISTED} more")
        put("")


def _cells(message: Message, now: float) -> tuple[str, ...]:
    return (
        f"  {age(now - message.time) if message.timed else '?'}",
        shorten_end(message.sender, WIDEST_SUBJECT),
        shorten_end(", ".join(message.recipients), WIDEST_SUBJECT),
        shorten_end(message.subject, WIDEST_SUBJECT),
        message.id,
    )


def open_mail(mail: list[Message]) -> OpenMailRow:
    """Return how much mail there is, and the oldest of it."""
    return OpenMailRow(len(mail), [_open(message) for message in mail[:MOST_LISTED]])


def _open(message: Message) -> OpenMessageRow:
    return OpenMessageRow(
        message.id, message.sender, message.recipients, message.timestamp, message.subject, message.type
    )
