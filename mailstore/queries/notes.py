"""Search the texts that agents keep beside their mail, in the language in which messages are searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mailstore.queries.language.tree import All, Either, Field, Not, Query, Sought, finds
from mailstore.queries.search import judged
from mailstore.queries.search_context import SearchContext
from mailstore.records.details import AgentNote
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps

FIELDS = frozenset({"from", "type", "subject", "before", "after", "on"})
"""The fields that a note has: its agent, its kind, its title and its day. The others find messages only."""
NEVER = Either(())
"""A query that nothing matches."""


def found_notes(
    query: Query, read: Callable[[], Iterable[AgentNote]], mailbox: Mailbox, now: float
) -> Steps[list[AgentNote]]:
    """Yield the notes of agents that match a query, a few at a time; `read` is called in a worker."""
    reading = BackgroundWork(lambda: {note.source: note for note in read()})
    yield reading
    notes = reading.found()
    context = SearchContext(mailbox, lambda message: notes[message.id].text, now)
    for found in judged(map(_as_message, notes.values()), _of_notes(query), context):
        yield [notes[message.id] for message in found] if isinstance(found, list) else found


def line_found(text: str, sought: Sequence[Sought]) -> str:
    """Return the first line of a text in which one of some words or patterns is, else its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if any(finds(each, line) for each in sought)), lines[0] if lines else "")


def _as_message(note: AgentNote) -> Message:
    """Return a note as the message on which a query is evaluated."""
    return Message(note.source, note.agent, (), note.day, note.time, note.title, type=note.kind)


def _of_notes(query: Query) -> Query:
    """Return a query in which what only messages have is never found."""
    match query:
        case Field(name) if name not in FIELDS:
            return NEVER
        case Not(part):
            return Not(_of_notes(part))
        case All(parts):
            return All(tuple(map(_of_notes, parts)))
        case Either(parts):
            return Either(tuple(map(_of_notes, parts)))
        case _:
            return query
