"""List what agents note and remember beside their mail, and read it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from console.panes.facts import FactPage, fact
from console.render.safe import visible, visible_line
from console.render.short_text import plural, shorten_end
from console.running.stepping import stepped
from console.screens.message_dialogs import ListDialog
from console.screens.viewer import Viewer
from mailstore.queries.language.tree import All, Query, Sought, sought_in
from mailstore.queries.notes import found_notes, line_found

if TYPE_CHECKING:
    from console.screens.mail_screen import MailScreen
    from console.session import Session
    from mailstore.records.details import AgentNote

EVERYTHING = All(())
"""The query that every note matches."""
LONGEST_LINE = 200


class NotesDialog(ListDialog[int]):
    """Returns the place of the note that was chosen; closes with escape, q and the key that opened it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("S", "leave", "close")]

    def __init__(self, notes: Sequence[AgentNote], sought: Sequence[Sought], first: int) -> None:
        question = plural(len(notes), "agent note")
        super().__init__(question, [_row(note, sought) for note in notes], "Enter: read · Esc: close", first=first)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


def _row(note: AgentNote, sought: Sequence[Sought]) -> Content:
    """Return a note as two lines: what it is, and the line that was found."""
    head = visible_line(f"{note.day}  {note.agent}  {note.kind}: {note.title}")
    line = shorten_end(visible_line(line_found(note.text, sought)), LONGEST_LINE)
    return Content.assemble(head, "\n  ", (line, "$muted"))


async def notes_matching(session: Session, query: Query) -> list[AgentNote]:
    """Return the notes of agents that a query finds, the newest day first. Raises MailboxReloaded."""
    notes: list[AgentNote] = []
    steps = found_notes(query, session.store.agent_notes, session.mailbox, session.now())
    async with aclosing(stepped(steps, session.rest)) as batches:
        async for batch in batches:
            notes += batch
    return sorted(notes, key=lambda note: note.time, reverse=True)


async def read_notes(screen: MailScreen, notes: Sequence[AgentNote], query: Query) -> None:
    """List some notes, and show those that are chosen, until the list is closed."""
    at, sought = 0, sought_in(query).texts
    while True:
        chosen = await screen.ask_and_wait(NotesDialog(notes, sought, at))
        if chosen is None:
            return
        at = chosen
        await screen.ask_and_wait(Viewer("Note", _page(notes[at]), "S"))


def _page(note: AgentNote) -> FactPage:
    rows = {"agent": note.agent, "kind": note.kind, "title": note.title, "day": note.day, "file": note.source}
    return FactPage([*(fact(name, value) for name, value in rows.items()), fact("text", Content(visible(note.text)))])
