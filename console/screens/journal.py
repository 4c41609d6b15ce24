"""List the user's interventions from the oversight journal, each with its effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from console.panes.facts import FactPage, facts, read_out
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import age, clock
from console.screens.base_screen import bindings
from console.screens.list_screen import ListScreen
from mailstore.records.message import Intervention

ACTIONS = {
    "intervene": "stepped in",
    "redirect": "redirected",
    "resend": "sent again",
    "acknowledge": "acknowledged",
    "undo": "undone",
    "archive": "archived",
    "hand-over": "handed over",
    "hold": "held",
    "stop": "stopped",
    "release": "released",
    "deliver": "given as a prompt",
}


class Journal(ListScreen):
    """Interventions, newest first; enter goes to the message that resulted from one."""

    NAME = "journal"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Journal"

    def placeholder(self) -> tuple[str, ...]:
        return (
            "No interventions yet.",
            "",
            "Your interventions are listed here:",
            "replies in agents' threads, settled dead letters, archive runs.",
        )

    def rows(self) -> Sequence[ListRow]:
        return [self._row(record) for record in self.session.mailbox.interventions()]

    def _row(self, record: Intervention) -> ListRow:
        styles, mailbox = self.text_styles, self.session.mailbox
        message = mailbox.message(record.message_id) if record.message_id else None
        about = message.subject if message else record.message_id or read_out(record.details.get("agents", ""))
        recipient = str(record.details.get("recipient") or "")
        notes = [record.actor, *([f"for {recipient}"] if recipient else []), *([record.note] if record.note else [])]
        action = ACTIONS.get(record.action, record.action)
        return ListRow(
            key=record.id,
            left=((f"{visible_line(action):<13} ", styles.intervention), (visible_line(about), styles.text)),
            right=((f"{age(self.session.now() - record.time):>4}", styles.muted),),
            left_below=((visible_line(" · ".join(notes)), styles.muted),),
        )

    def _record(self, key: str) -> Intervention | None:
        return next((record for record in self.session.mailbox.interventions() if record.id == key), None)

    def target(self, key: str) -> str | None:
        """Return the message that resulted from the action, else the one that it was about."""
        record = self._record(key)
        if record is None:
            return None
        sent = record.details.get("sent")
        return str(sent) if sent and str(sent) in self.session.mailbox else record.message_id

    def about(self, key: str) -> FactPage:
        record = self._record(key)
        if record is None:
            return FactPage([])
        told = [
            ("did", ACTIONS.get(record.action, record.action)),
            ("when", clock(record.time, self.session.now())),
            ("who", record.actor),
            ("message", record.message_id or "–"),
            *([("note", record.note)] if record.note else []),
            *((name, read_out(value)) for name, value in record.details.items()),
            ("record", record.id),
        ]
        return facts(told, room=10)
