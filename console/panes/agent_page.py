"""Everything that is known about an agent: its entry in the roster, what it is doing, what its mailbox says of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from console.panes.facts import FactPage, Row, fact
from console.render.safe import visible
from console.render.short_text import clock
from console.session import Session
from console.words.agent_presence import doing_words, presence_line
from console.words.cut_off_words import cut_off_line
from console.words.symbols import SIGNS
from mailstore.records.details import AgentFact
from mailstore.records.roster import Agent

ROOM = 11
LONGEST = 20_000
"""Characters of a text that are shown."""
EMPTY = Content(), Content()


def agent_page(session: Session, agent: Agent, facts: Sequence[AgentFact]) -> FactPage:
    """Return a page about an agent."""
    now = session.now()
    found = session.presence(agent)
    rows: list[tuple[str, str]] = [
        ("agent", agent.session_id),
        ("name", agent.name),
        ("role", agent.role),
        ("tags", ", ".join(agent.tags)),
        ("status", agent.status.value),
        ("state", presence_line(found, now)),
        ("doing", doing_words(found) or agent.activity),
        ("seen", "" if agent.last_seen is None else clock(agent.last_seen, now)),
        ("unread", str(session.mailbox.unread_count(agent.session_id))),
    ]
    if (lost := session.mailbox.cut_off_of(agent.session_id)) is not None:
        rows.append(("mailbox", cut_off_line(lost, now)))
    parts = [fact(name, value, ROOM) for name, value in rows if value]
    return FactPage([*parts, *([EMPTY] if facts else []), *map(_row, facts)])


def _row(known: AgentFact) -> Row:
    """Return a fact, whose text may have several lines; a warning stands out."""
    text = visible(known.value[:LONGEST])
    if known.is_warning:
        return fact(known.name, Content.assemble((f"{SIGNS['warning tag'].glyph} {text}", "$error")), ROOM)
    return fact(known.name, Content(text), ROOM)
