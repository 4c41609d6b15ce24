"""The details of a concern; those of a dead letter include its cause and who could take it over."""

from __future__ import annotations

from console.panes.facts import FactPage, facts
from console.render.short_text import clock
from console.session import Session
from console.words.concern_words import heading_of
from mailstore.queries.concerns import LETTERS, Concern
from mailstore.queries.takeover import last_seen, takers
from mailstore.state.views import DeadLetter


def letter_of(session: Session, concern: Concern) -> DeadLetter | None:
    """Return the dead letter that a concern is about; None once it is settled or was read."""
    mailbox, message_id = session.mailbox, concern.message_id or ""
    if concern.trouble not in LETTERS or message_id not in mailbox:
        return None
    letters = mailbox.dead_letters_in(mailbox.root_of(message_id), session.now())
    return next((it for it in letters if (it.message.id, it.recipient) == (message_id, concern.recipient)), None)


def concern_facts(session: Session, concern: Concern) -> FactPage:
    """Return the details of a concern."""
    letter = letter_of(session, concern)
    if letter is not None:
        return _letter_facts(session, letter)
    message = session.mailbox.message(concern.message_id or "")
    told = [
        ("what", heading_of(concern)),
        ("who", concern.who),
        ("why", concern.reason),
        ("since", clock(concern.since, session.now()) if concern.since > 0 else "unknown"),
        ("subject", message.subject if message is not None else "–"),
    ]
    return facts(told)


def _letter_facts(session: Session, letter: DeadLetter) -> FactPage:
    mailbox, now, message = session.mailbox, session.now(), letter.message
    seen = last_seen(mailbox, letter.recipient)
    when = clock(letter.since, now) if letter.since is not None else "unknown"
    doing = [word for word in (seen.role, seen.activity) if word]
    last = "never" if seen.status is None else clock(seen.time, now) if seen.time is not None else "unknown"
    told = [
        ("cause", f"{letter.reason} ({letter.state.value})"),
        ("since", when),
        ("from", message.sender),
        ("to", letter.recipient),
        ("role", " · ".join(doing) or "–"),
        ("last seen", last),
        ("could take over", ", ".join(takers(mailbox, letter)) or "no living agent shares its role or tags"),
        ("sent", clock(message.time, now) if message.timed else message.timestamp),
        ("type", message.type or "–"),
        ("message", message.id),
    ]
    return facts(told, room=15)
