"""The store for Claude Code agent teams: one JSON array per inbox, emptied as it is delivered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from mailstore.errors import ContentGone, DraftRefused, MailboxMissing
from mailstore.kinds.claude_teams.copies import SeenEntry, id_of, message_of
from mailstore.kinds.claude_teams.entries import InboxEntry, entry_of
from mailstore.kinds.claude_teams.journal import TeamJournal
from mailstore.kinds.claude_teams.notices import notice
from mailstore.kinds.claude_teams.places import INBOXES, Team, TeamsPlace, ended_teams, find
from mailstore.kinds.claude_teams.sessions import projects_beside
from mailstore.kinds.claude_teams.source import TeamsSource
from mailstore.kit.locating import unreadable
from mailstore.kit.part_reader import PartReader
from mailstore.kit.team_folders.seen_journal import gone_words
from mailstore.kit.watched_store import WatchedStore, watched_folders
from mailstore.location import path_of
from mailstore.records.message import Location, Message
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

MOST_NAMED = 10
ONE_TEXT = "its messages have a text and a summary only"


class ClaudeTeamsStore(WatchedStore):
    """One team, or all the teams of a folder.

    Mail is removed from an inbox when it is delivered, so what was seen is kept in a journal in the state folder and
    shown from there, together with what the transcripts of the team's sessions prove.
    """

    kind: ClassVar[str] = "claude-teams"
    summary: ClassVar[str] = "Claude Code agent teams, also ended ones: their inboxes, and their letters in transcripts"
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

    def __init__(self, place: TeamsPlace, *, poll: bool = False) -> None:
        self._place = place
        self._source = TeamsSource(place)
        declared = self.declared
        self._capabilities = declared.without(self.notice, Capability.SEND) if place.is_gone else declared
        super().__init__(PartReader(self._source), place.folder, poll=poll)

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
    def title(self) -> str:
        folder = self._place.folder
        name = f"{folder.parent.name}/{folder.name}" if self._place.is_several else folder.name
        return f"{name} (gone)" if self._place.is_gone else name

    def watched(self) -> WatchedPaths:
        """Return the files of the teams and of their tasks."""
        folder = Path(self.url.partition(":")[2])
        return watched_folders(folder, folder.parent / "tasks", folder.parent.parent / "tasks" / folder.name)

    @property
    def notice(self) -> str:
        """Return since when the team is gone, if it was gone when opened."""
        folder = self._place.folder
        if not self._place.is_gone:
            return ""
        if self._place.is_several:
            return f"{folder} is gone: showing what was seen of its teams"
        journal, projects = TeamJournal(folder), projects_beside(folder)
        if journal.note().gone is None and projects is not None and projects.is_dir():
            return f"the team {folder.name} is gone: showing what was seen of it"  # since when, its transcripts say
        return gone_words(f"team {folder.name}", journal.gone_since())

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def below(self) -> list[str]:
        teams = self._source.teams() if self._place.is_several else [Team(self._place.folder)]
        paths = [path for team in teams for path in (team.folder, team.inboxes, team.tasks)]
        return [str(path) for path in (*paths, *self._source.transcript_folders())]

    def content(self, message: Message) -> str:
        """Return a message's body; notices of programs are put into words. Raises ContentGone."""
        return self._found(message).body

    def raw(self, message: Message) -> bytes:
        return self._found(message).entry.raw

    def _found(self, message: Message) -> SeenEntry:
        """Return the entry of a message; if this store hasn't seen it, from the files and the journal."""
        if (found := self._source.find(message)) is not None:
            return found
        anew = TeamsSource(self._place, is_keeping=False)
        try:
            for part in anew.parts(closely=True):
                anew.read(part)
        except OSError as error:
            raise ContentGone(f"{self._place.folder} can't be read", "was the team ended?") from error
        if (found := anew.find(message)) is None:
            raise ContentGone(f"message {message.id} is in no inbox", "it was delivered before it was seen")
        return found

    def write_message(self, draft: Draft) -> Message:
        """Append a message from the person to the inbox of each recipient."""
        from mailstore.kinds.claude_teams.writer import write

        try:
            teams = self._place.teams()
        except OSError as error:
            raise unreadable(self._place.folder, error) from error
        gone = [team for team in self._place.remembered() if team.name not in {there.name for there in teams}]
        for team in gone:
            if any(name.endswith(f"@{team.name}") for name in draft.recipients):
                raise DraftRefused(
                    "to",
                    gone_words(f"team {team.name}", TeamJournal(team.folder).gone_since()),
                    "write to a running team",
                )
        team, written = write(teams, draft)
        copies = []
        for it in written:
            entry = entry_of(it.name, it.raw)
            assert isinstance(entry, InboxEntry)
            where = Location(f"{team.prefix}{INBOXES}/{it.name}.json", it.offset, len(it.raw))
            copies.append(SeenEntry(id_of(team, entry, 0), entry, 0, entry.time or 0.0, where, notice(entry.text)))
        return message_of(team, sorted(copies, key=lambda seen: seen.entry.inbox), {it.name for it in written})
