"""The store for Claude Code agent teams: one JSON array per inbox, emptied as it is delivered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mailstore.errors import MailboxMissing
from mailstore.kinds.claude_teams.copies import SeenEntry, id_of, message_of
from mailstore.kinds.claude_teams.entries import InboxEntry, entry_of
from mailstore.kinds.claude_teams.journal import TeamJournal, TeamNote
from mailstore.kinds.claude_teams.mail import TeamMail
from mailstore.kinds.claude_teams.notices import notice
from mailstore.kinds.claude_teams.places import INBOXES, TeamsPlace, ended_teams, find
from mailstore.kinds.claude_teams.sessions import projects_beside
from mailstore.kinds.claude_teams.source import TeamsSource
from mailstore.kit.team_folders.seen_journal import SeenJournal
from mailstore.kit.team_folders.seen_source import SeenSource
from mailstore.kit.team_folders.seen_store import SeenTeamsStore
from mailstore.kit.watched_store import watched_folders
from mailstore.location import path_of
from mailstore.records.message import Location, Message
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

MOST_NAMED = 10
ONE_TEXT = "its messages have a text and a summary only"


class ClaudeTeamsStore(SeenTeamsStore):
    """One team, or all the teams of a folder.

    Mail is removed from an inbox when it is delivered, so what was seen is kept in a journal in the state folder and
    shown from there, together with what the transcripts of the team's sessions prove.
    """

    kind: ClassVar[str] = "claude-teams"
    summary: ClassVar[str] = (
        "Claude Code agent teams, also ended ones: their inboxes, and their messages in transcripts"
    )
    missing: ClassVar[tuple[str, str]] = (
        "there is no team at {path}",
        "name a team's folder, or the folder of all teams",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.MARK_READ: "a marked message is never delivered and would be lost",
            Capability.UPDATE_ROSTER: "the team's own program starts and ends the agents",
            Capability.RECORD: "it has no journal",
            Capability.ARCHIVE: "the team's own program removes what it has delivered",
            Capability.ADOPT: "its inboxes are queues: old mail would be delivered again",
            Capability.REPLY: "its messages don't refer to other messages",
            Capability.TYPE: ONE_TEXT,
            Capability.TTL: ONE_TEXT,
            Capability.METADATA: ONE_TEXT,
            Capability.AUDIENCE: "each recipient's inbox has a copy of its own",
        }
    )
    known_fields: ClassVar[frozenset[str]] = frozenset({"from", "text", "timestamp", "read"})

    source_type: ClassVar[type[SeenSource[TeamMail]]] = TeamsSource
    journal_type: ClassVar[type[SeenJournal[TeamNote]]] = TeamJournal
    never_seen: ClassVar[str] = "it was delivered before it was seen"
    _source: TeamsSource

    @classmethod
    def find(cls, path: Path) -> TeamsPlace | None:
        return find(path)

    @classmethod
    def open(cls, location: str | Path, *, poll: bool = False) -> Self:
        """Open one team or several; where there is none, the error names the ended ones beside it."""
        try:
            return super().open(location, poll=poll)
        except MailboxMissing as error:
            ended = ended_teams(path_of(location).parent)
            if not ended:
                raise
            more = f", and {len(ended) - MOST_NAMED} more" if len(ended) > MOST_NAMED else ""
            remedy = f"ended teams there are {', '.join(ended[:MOST_NAMED])}{more}"
            raise MailboxMissing(error.problem, remedy) from error

    @property
    def name(self) -> str:
        """Return the team's name, or the names of the folder of teams and the one above."""
        folder = self._place.folder
        return f"{folder.parent.name}/{folder.name}" if self._place.is_several else folder.name

    def watched(self) -> WatchedPaths:
        folder = Path(self.url.partition(":")[2])
        return watched_folders(folder, folder.parent / "tasks", folder.parent.parent / "tasks" / folder.name)

    @property
    def notice(self) -> str:
        folder = self._place.folder
        if self._place.is_gone and not self._place.is_several and TeamJournal(folder).note().gone is None:
            projects = projects_beside(folder)
            if projects is not None and projects.is_dir():
                return f"the team {folder.name} is gone: showing what was seen of it"  # its transcripts say since when
        return super().notice

    def below(self) -> list[str]:
        paths = [path for team in self._teams() for path in (team.folder, team.inboxes, team.tasks)]
        return [str(path) for path in (*paths, *self._source.transcript_folders())]

    def content(self, message: Message) -> str:
        """Return a message's body; notices of programs are put into words. Raises ContentGone."""
        body: str = self._seen(message).body
        return body

    def write_message(self, draft: Draft) -> Message:
        """Append a message from the user to the inbox of each recipient."""
        from mailstore.kinds.claude_teams.writer import write

        team, written = write(self._teams_for(draft), draft)
        copies = []
        for it in written:
            entry = entry_of(it.name, it.raw)
            assert isinstance(entry, InboxEntry)
            where = Location(f"{team.prefix}{INBOXES}/{it.name}.json", it.offset, len(it.raw))
            copies.append(SeenEntry(id_of(team, entry, 0), entry, 0, entry.time or 0.0, where, notice(entry.text)))
        return message_of(team, sorted(copies, key=lambda seen: seen.entry.inbox), {it.name for it in written})
