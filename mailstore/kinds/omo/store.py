"""The store for oh-my-openagent's team mode: one JSON file per message and inbox (docs/formats/omo.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.kinds.omo.journal import RunJournal, TeamRunNote
from mailstore.kinds.omo.mail import PROCESSED, RunMail, message_of
from mailstore.kinds.omo.places import OmoPlace, find
from mailstore.kinds.omo.source import RunsSource
from mailstore.kit.team_folders.files import folders_in
from mailstore.kit.team_folders.seen_journal import SeenJournal
from mailstore.kit.team_folders.seen_source import SeenSource
from mailstore.kit.team_folders.seen_store import SeenTeamsStore
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.records.draft import Draft


class OmoStore(SeenTeamsStore):
    """One run of a team, or all runs of a base folder.

    The program deletes a run with all its mail, so what was seen is kept in a journal in the state folder and shown
    from there.
    """

    kind: ClassVar[str] = "omo"
    summary: ClassVar[str] = "oh-my-openagent's team mode: the runs in ~/.omo/runtime"
    missing: ClassVar[tuple[str, str]] = ("there is no run of a team at {path}", "name ~/.omo, or a run's folder")
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.MARK_READ: "a message moved to processed is never shown to the member: it would be lost",
            Capability.UPDATE_ROSTER: "the program itself starts and ends the members",
            Capability.RECORD: "it has no journal",
            Capability.ARCHIVE: "the program deletes a run with its mail",
            Capability.ADOPT: "its inboxes are queues: old mail would be delivered again",
            Capability.TTL: "its messages do not expire",
            Capability.METADATA: "the program refuses fields that it does not know",
            Capability.AUDIENCE: "each recipient's inbox has a copy of its own",
        }
    )
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"version", "messageId", "from", "to", "kind", "body", "summary", "references", "timestamp", "correlationId"}
    )

    source_type: ClassVar[type[SeenSource[RunMail]]] = RunsSource
    journal_type: ClassVar[type[SeenJournal[TeamRunNote]]] = RunJournal
    never_seen: ClassVar[str] = "its run was deleted before it was seen"

    @classmethod
    def find(cls, path: Path) -> OmoPlace | None:
        return find(path)

    @property
    def name(self) -> str:
        """Return the name of a run's team with the run's id, or the name of the folder above that of runs."""
        folder = self._place.folder
        if self._place.is_several:
            return f"{folder.parent.name[:30]}/{folder.name}"
        return OmoPlace(folder.parent, is_several=True).at(folder.name).suffix.removeprefix("@") or folder.name

    def below(self) -> list[str]:
        paths: list[Path] = []
        for run in self._teams():
            paths += [run.folder, run.inboxes, run.tasks]
            for inbox in sorted(folders_in(run.inboxes)):
                paths += [inbox, inbox / PROCESSED]
        return [str(path) for path in paths]

    def content(self, message: Message) -> str:
        body: str = self._seen(message).entry.body
        return body

    def write_message(self, draft: Draft) -> Message:
        """Write a message from the user into the inbox of each recipient."""
        from mailstore.kinds.omo.writer import write

        run, written = write(self._teams_for(draft), draft)
        entry = written[0].entry
        roots = {entry.correlation: entry.correlation} if entry.correlation else {}
        return message_of(run, written, roots, {seen.inbox for seen in written})
