"""Which agents a concern waits for."""

from __future__ import annotations

from console.session import Session
from mailstore.queries.concerns import Concern, Trouble
from mailstore.records.roster import Status


def sleeper(session: Session, concern: Concern) -> str | None:
    """Return the first agent that a concern waits for and that is not dead."""
    roster = session.mailbox.roster
    agents = [agent for name in waited_for(session, concern) if (agent := roster.get(name)) is not None]
    return next((agent.session_id for agent in agents if agent.status is not Status.DEAD), None)


def waited_for(session: Session, concern: Concern) -> list[str]:
    """Return the names of those that a concern waits for: those asked, the recipient of a letter, the agent itself."""
    mailbox = session.mailbox
    message = mailbox.message(concern.message_id or "")
    if concern.trouble is Trouble.QUESTION and message is not None:
        return list(mailbox.bare_states(message, session.now()))
    return [concern.recipient or concern.who]
