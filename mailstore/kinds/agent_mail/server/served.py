"""The database of a server, as its commands look into it: whether it is that server's, and what it has written."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mailstore.errors import StoreError, reason_of
from mailstore.files.database import Unreadable
from mailstore.kinds.agent_mail.server.access import TABLE
from mailstore.kinds.agent_mail.server.answers import ToolRefused
from mailstore.kinds.agent_mail.server.lookup import Directory
from mailstore.kinds.agent_mail.server.tools import ToolCalls
from mailstore.kit import tables
from mailstore.kit.timestamps import time_of

if TYPE_CHECKING:
    import sqlite3

FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.2
Found = TypeVar("Found")


class ServedDatabase:
    """A database that is only read, and that its server writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def look(self, look: Callable[[sqlite3.Connection], Found]) -> Found:
        """Return what a query returns. Raises StoreError."""
        try:
            return tables.look(self._path, look, is_text=True)
        except (OSError, Unreadable) as error:
            raise StoreError(f"{self.name} can't be read", reason_of(error)) from error

    def wait_for(self, look: Callable[[sqlite3.Connection], Found | None], seconds: float) -> Found | None:
        """Return what a query finds within some seconds; None if it finds nothing. Blocks."""
        end, pause = time.monotonic() + seconds, FIRST_PAUSE
        while (found := self.look(look)) is None and time.monotonic() < end:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        return found

    async def check_server(self, tools: ToolCalls, known: Directory, name: str, project: str) -> None:
        """Check that the server knows an agent as it is in the database. Raises StoreError: it has another one."""
        agent = known.find(name, project) or next((each for each in known.agents if each.project == project), None)
        if agent is None or await tools.described("whois") is None:
            return
        try:
            found = await tools.ask("whois", project_key=project, agent_name=agent.name, include_recent_commits=False)
        except ToolRefused:
            found = {}
        since = found.get("inception_ts")
        is_same = found.get("name") == agent.name and found.get("id", agent.id) == agent.id
        if not is_same or (isinstance(since, str) and time_of(since) != time_of(agent.since)):
            raise StoreError(f"this server has another database than {self._path}", f"check url in [{TABLE}]")
