"""What a snooze can wait for, by what fits the thread."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from console.quiet.marks import KindOfMark, Mark
from console.quiet.snooze import Occurrence, Snooze, mail_for_user
from console.quiet.times import due_words, offered_times
from mailstore.records.message import Message, by_age
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox

MOST_AGENTS = 3
IsAwake = Callable[[str], bool]


def timed(snooze: Snooze, due: float) -> Snooze:
    """Return a snooze of the same thread that lasts until a time."""
    return Snooze(Occurrence.TIME, snooze.at, due, known=snooze.known, size=snooze.size)


def begun(mailbox: Mailbox, root: str, now: float) -> Snooze:
    """Return the beginning of a snooze of a thread, which knows what is in it."""
    mail = mailbox.thread_messages(root)
    known = frozenset(message.id for message in mail_for_user(mailbox, mail))
    return Snooze(Occurrence.MAIL, now, known=known, size=len(mail))


def offers_of_time(snooze: Snooze, now: float) -> list[tuple[str, str, Snooze]]:
    """Return the offered times: their names, when they are, and the snooze."""
    return [(label, due_words(due, now), timed(snooze, due)) for label, due in offered_times(now)]


def offers_for_thread(mailbox: Mailbox, root: str, snooze: Snooze, is_awake: IsAwake) -> list[tuple[str, str, Snooze]]:
    """Return the events that fit a thread."""
    mail = sorted(mailbox.thread_messages(root), key=by_age)
    asked = _waits_for_answer(mailbox, mail)
    offers: list[tuple[str, str, Snooze]] = []
    if asked is not None:
        by = "your message" if mailbox.is_own(asked) else f"the question of {asked.sender}"
        answer = Snooze(Occurrence.ANSWER, snooze.at, about=asked.id, known=snooze.known, size=snooze.size)
        offers.append(("when it is answered", by, answer))
    names = dict.fromkeys(name for message in reversed(mail) for name in (message.sender, *message.recipients))
    away = agents_away(mailbox, names, is_awake)
    offers += offers_for_agents(away, snooze)
    return [*offers, ("when new mail comes here", "", snooze)]


def offers_for_agents(away: list[Agent], snooze: Snooze) -> list[tuple[str, str, Snooze]]:
    """Return the offers to wait for agents."""
    return [
        (
            f"when {agent.session_id} resumes",
            agent.status.value,
            Snooze(Occurrence.AGENT, snooze.at, agent=agent.session_id, known=snooze.known, size=snooze.size),
        )
        for agent in away[:MOST_AGENTS]
    ]


def deadlines_for_thread(mailbox: Mailbox, root: str, snooze: Snooze) -> list[tuple[str, str, Snooze]]:
    """Return what a message of the user can be expected to become until a time that is to be chosen."""
    mail = sorted(mailbox.thread_messages(root), key=by_age)
    asked = _waits_for_answer(mailbox, mail)
    if asked is None or not mailbox.is_own(asked):
        return []
    answer = Snooze(Occurrence.ANSWER, snooze.at, about=asked.id, known=snooze.known, size=snooze.size)
    read = [("r", "until it is read, or a time", replace(answer, until=Occurrence.READ))] if asked.is_tracked else []
    return [("a", "until it is answered, or a time", answer), *read]


def reminder(mailbox: Mailbox, sent: Message, now: float, minutes: int) -> tuple[Mark, Snooze]:
    """Return the snooze of what was just sent, until it is answered or so many minutes have passed."""
    root = mailbox.root_of(sent.thread or sent.id)
    known = begun(mailbox, root, now).known if mailbox.outline(root) is not None else frozenset[str]()
    due = now + 60 * minutes
    return (KindOfMark.SNOOZED_THREAD, sent.id), Snooze(Occurrence.ANSWER, now, due, about=sent.id, known=known)


def agents_away(mailbox: Mailbox, names: dict[str, None], is_awake: IsAwake) -> list[Agent]:
    """Return the agents among some names that are frozen, have ended or were not seen for long."""
    agents = (mailbox.roster.get(name) for name in names)
    return [agent for agent in agents if agent is not None and not is_awake(agent.session_id)]


def _waits_for_answer(mailbox: Mailbox, mail: list[Message]) -> Message | None:
    """Return the last question, or message of the user, that no message of others follows."""
    for message in reversed(mail):
        if message.sender != mail[-1].sender:
            return None
        if message.type == "question" or mailbox.is_own(message):
            return message
    return None
