"""What the database says that a command to its server needs: whose it is, projects, agents, what was just written."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mailstore.errors import StoreError, reason_of
from mailstore.files.database import Unreadable
from mailstore.kinds.agent_mail import tables as ask
from mailstore.kinds.agent_mail.roster import OVERSEER
from mailstore.kinds.agent_mail.server.access import TABLE
from mailstore.kinds.agent_mail.server.answers import ToolRefused
from mailstore.kinds.agent_mail.server.tools import ToolCalls
from mailstore.kit import tables
from mailstore.kit.tables import columns, text_of
from mailstore.kit.timestamps import time_of

if TYPE_CHECKING:
    import sqlite3

LONGEST_ID = 19


class KnownAgent(NamedTuple):
    """An agent of a project; the user is the one called HumanOverseer."""

    id: int
    name: str
    project: str
    is_retired: bool
    since: str


class KnownMessage(NamedTuple):
    """A message that is answered or marked."""

    id: int
    project: str
    subject: str
    sender: str
    label: str
    unread_by: frozenset[str]
    unacknowledged_by: frozenset[str]


class Directory(NamedTuple):
    """The projects by their slugs, and their agents."""

    projects: Sequence[str]
    agents: Sequence[KnownAgent]
    has_global_names: bool

    def find(self, name: str, project: str) -> KnownAgent | None:
        return next((agent for agent in self.agents if agent.name == name and agent.project == project), None)

    @property
    def overseen(self) -> frozenset[str]:
        """Return the projects in which the user is registered."""
        return frozenset(agent.project for agent in self.agents if agent.name == OVERSEER and not agent.is_retired)


def directory(mail: sqlite3.Connection) -> Directory:
    slugs: Mapping[int, str] = {row: text_of(slug) for row, slug in mail.execute("SELECT id, slug FROM projects")}
    wanted = columns(mail, "agents", "id", "name", "project_id", "retired_at", "deleted_ts", "inception_ts")
    agents = [
        KnownAgent(row, text_of(name), slugs.get(project, ""), (retired or deleted) is not None, text_of(since))
        for row, name, project, retired, deleted, since in mail.execute(f"SELECT {wanted} FROM agents")  # noqa: S608
    ]
    [(indexes,)] = mail.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'uq_agents_name_ci'"
    )
    return Directory(list(slugs.values()), agents, indexes > 0)


def known_message(mail: sqlite3.Connection, message_id: str) -> KnownMessage | None:
    """Return a message by its id; None if there is none."""
    if not (message_id.isascii() and message_id.isdecimal() and len(message_id) < LONGEST_ID):
        return None
    row = mail.execute(
        "SELECT messages.id, slug, subject, agents.name, thread_id FROM messages "
        "JOIN projects ON projects.id = messages.project_id JOIN agents ON agents.id = sender_id "
        "WHERE messages.id = ?",
        (int(message_id),),
    ).fetchone()
    if row is None:
        return None
    to = mail.execute(
        "SELECT name, read_ts, ack_ts FROM message_recipients JOIN agents ON agents.id = agent_id WHERE message_id = ?",
        (row[0],),
    ).fetchall()
    unread = frozenset(text_of(name) for name, read, _ in to if read is None)
    silent = frozenset(text_of(name) for name, _, acknowledged in to if acknowledged is None)
    number, project, subject, sender, label = row
    return KnownMessage(number, text_of(project), text_of(subject), text_of(sender), text_of(label), unread, silent)


def last_message(mail: sqlite3.Connection) -> int:
    """Return the highest number of a message; 0 if there is none."""
    return ask.sums(mail).last


def written_since(
    mail: sqlite3.Connection, last: int, sender: str, project: str, subject: str, body: str
) -> int | None:
    """Return the message with a number above `last` that says just this; None if there is none."""
    asked = mail.execute(
        "SELECT messages.id FROM messages JOIN agents ON agents.id = sender_id "
        "JOIN projects ON projects.id = messages.project_id WHERE messages.id > ? AND name = ? AND slug = ? "
        "AND (subject = ? OR ? = '') AND substr(body_md, -length(?)) = ? ORDER BY messages.id LIMIT 1",
        (last, sender, project, subject, subject, body.strip(), body.strip()),
    )
    row = asked.fetchone()
    return None if row is None else int(row[0])


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
            raise StoreError(f"{self.name} can't be read", reason_of(error), "E444") from error

    def wait_for(self, look: Callable[[sqlite3.Connection], Found | None], seconds: float) -> Found | None:
        """Return what a query finds within some seconds; None if it finds nothing. Blocks."""
        end, pause = time.monotonic() + seconds, FIRST_PAUSE
        while (result := self.look(look)) is None and time.monotonic() < end:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        return result

    async def check_server(self, tools: ToolCalls, known: Directory, name: str, project: str) -> None:
        """Check that the server knows an agent as it is in the database. Raises StoreError: it has another one."""
        agent = known.find(name, project) or next((each for each in known.agents if each.project == project), None)
        if agent is None or await tools.described("whois") is None:
            return
        try:
            answer = await tools.ask("whois", project_key=project, agent_name=agent.name, include_recent_commits=False)
        except ToolRefused:
            answer = {}
        since = answer.get("inception_ts")
        is_same = answer.get("name") == agent.name and answer.get("id", agent.id) == agent.id
        if not is_same or (isinstance(since, str) and time_of(since) != time_of(agent.since)):
            raise StoreError(f"this server has another database than {self._path}", f"check url in [{TABLE}]", "E443")
