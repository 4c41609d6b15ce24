"""Messages that are held for a while before they are sent, in the user's own state: each leaves it exactly once."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from console.hooks.sessions.processes import is_gone, is_of_this_system, process_name
from console.state.composer_draft import ComposerDraft
from console.state.database import StateDatabase, draft_rows
from mailstore.encoding import as_json, from_json

LATE_SECONDS = 60.0
"""A message that is overdue by this long was left: its console was suspended, or the system was restarted."""
HELD, SENDING = "held", "sending"


class HeldMessage(msgspec.Struct, frozen=True):
    """A message and when it is due, in seconds since the epoch.

    `is_sending` is set if its console ended while sending it, so that it may have been sent.
    """

    id: str
    writing: ComposerDraft
    due: float
    is_sending: bool = False


class HeldMessages:
    """The held messages of one mailbox. Methods block; of two callers that want the same message, one gets it."""

    def __init__(self, database: StateDatabase, mailbox: str, process: str = "") -> None:
        self._database = database
        self._mailbox = mailbox
        self._process = process or process_name(os.getpid()) or str(os.getpid())

    def hold(self, message: HeldMessage) -> None:
        """Keep a message in place of its draft."""
        row = (
            self._mailbox,
            message.id,
            self._process,
            HELD,
            message.due,
            as_json(message.writing),
        )
        self._database.write_all(
            [
                ("INSERT INTO held VALUES (?, ?, ?, ?, ?, ?)", [row]),
                ("DELETE FROM drafts WHERE mailbox = ? AND key = ?", [(self._mailbox, message.writing.key)]),
            ]
        )

    def claim(self, message_id: str, now: float) -> bool:
        """Take a message to send it now; return whether it is still there to be taken."""
        statement = "UPDATE held SET state = ?, due = ? WHERE mailbox = ? AND id = ? AND state = ? AND process = ?"
        return self._database.change(statement, (SENDING, now, self._mailbox, message_id, HELD, self._process)) == 1

    def forget(self, message_id: str) -> None:
        """Forget a message that was sent."""
        self._database.write("DELETE FROM held WHERE mailbox = ? AND id = ?", [(self._mailbox, message_id)])

    def give_back(self, message_id: str, draft: ComposerDraft, *, is_claimed: bool = False) -> bool:
        """Make a message a draft again, unless it is being sent or was taken; with `is_claimed`, one that failed."""
        state = SENDING if is_claimed else HELD
        values = (self._mailbox, message_id, state, self._process)
        where = "FROM held WHERE mailbox = ? AND id = ? AND state = ? AND process = ?"
        (_, [row]), *more = draft_rows(self._mailbox, draft)
        self._database.write_all(more)
        return self._database.move(
            (f"INSERT OR REPLACE INTO drafts SELECT ?, ?, ?, ?, ?, ?, ?, ? {where}", (*row, *values)),
            (f"DELETE {where}", values),
        )

    def take_over(self, now: float, is_over: Callable[[str], bool] = is_gone) -> list[HeldMessage]:
        """Take the messages whose console has ended; each is returned to one caller only."""
        messages = []
        statement = "SELECT id, process, state, due, writing FROM held WHERE mailbox = ?"
        take = "UPDATE held SET process = ? WHERE mailbox = ? AND id = ? AND process = ? AND state = ?"
        for message_id, process, state, due, text in self._database.rows(statement, (self._mailbox,)):
            is_late = now > due + LATE_SECONDS and (state == HELD or not is_of_this_system(process))
            if process == self._process and not is_late:
                continue
            if not (is_late or is_over(process)):
                continue
            if self._database.change(take, (self._process, self._mailbox, message_id, process, state)) == 1:
                writing = from_json(text, ComposerDraft)
                messages.append(HeldMessage(message_id, writing, due, state == SENDING))
        return messages
