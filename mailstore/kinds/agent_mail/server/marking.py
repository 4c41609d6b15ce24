"""Mark messages as read, or acknowledged, through the server's tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mailstore.errors import StoreError
from mailstore.kinds.agent_mail.server import lookup
from mailstore.kinds.agent_mail.server.access import TABLE, ServerAccess
from mailstore.kinds.agent_mail.server.addressing import named
from mailstore.kinds.agent_mail.server.answers import ServerFailed, ToolRefused
from mailstore.kinds.agent_mail.server.lookup import KnownMessage, ServedDatabase
from mailstore.kinds.agent_mail.server.tools import ToolCalls, with_tools

if TYPE_CHECKING:
    import sqlite3

READ, ACKNOWLEDGE = "mark_message_read", "acknowledge_message"
STAYS = {READ: "mail stays unread by its system", ACKNOWLEDGE: "nothing was acknowledged"}
APPEARS_SECONDS = 5.0


def mark(mail: ServedDatabase, access: ServerAccess, tool: str, reader: str, message_ids: Sequence[str]) -> int:
    """Mark messages for one of their recipients; return how many were not marked yet. Raises StoreError."""
    name, _ = named(reader)

    def due_in(database: sqlite3.Connection) -> list[KnownMessage]:
        messages = (lookup.known_message(database, each) for each in dict.fromkeys(message_ids))
        return [message for message in messages if message is not None and name in _waits_for(message, tool)]

    due = mail.look(due_in)
    if not due:
        return 0
    known = mail.look(lookup.directory)

    async def mark_all(tools: ToolCalls) -> None:
        await mail.check_server(tools, known, name, due[0].project)
        for known_message in due:
            await tools.write(tool, project_key=known_message.project, agent_name=name, message_id=known_message.id)

    try:
        with_tools(access, mark_all)
    except ToolRefused as refused:
        raise StoreError(f"the server refuses to mark mail ({refused.quoted})", "look at its log", "E436") from None
    except ServerFailed as failed:
        raise StoreError(f"{STAYS[tool]}, as {failed.problem}", failed.remedy, "E437") from None
    if mail.wait_for(lambda database: not due_in(database) or None, APPEARS_SECONDS) is None:
        raise StoreError(f"the server's marks do not appear in {mail.name}", f"check url in [{TABLE}]", "E435")
    return len(due)


def _waits_for(message: KnownMessage, tool: str) -> frozenset[str]:
    return message.unacknowledged_by if tool == ACKNOWLEDGE else message.unread_by
