"""The store for oh-my-openagent's team mode: one JSON file per message and inbox (docs/formats/omo.md)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.errors import ContentGone, DraftRefused
from mailstore.kinds.omo.entries import SeenFile
from mailstore.kinds.omo.journal import RunJournal
from mailstore.kinds.omo.letters import letter_of
from mailstore.kinds.omo.mail import PROCESSED
from mailstore.kinds.omo.places import OmoPlace, TeamRun, find
from mailstore.kinds.omo.source import RunsSource
from mailstore.kit.locating import unreadable
from mailstore.kit.part_reader import PartReader
from mailstore.kit.team_folders.seen_journal import gone_words
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.records.draft import Draft


class OmoStore(WatchedStore):
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

    def __init__(self, place: OmoPlace, *, poll: bool = False) -> None:
        self._place = place
        self._source = RunsSource(place)
        declared = self.declared
        self._capabilities = declared.without(self.notice, Capability.SEND) if place.is_gone else declared
        super().__init__(PartReader(self._source), place.folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> OmoPlace | None:
        return find(path)

    @property
    def title(self) -> str:
        folder = self._place.folder
        if self._place.is_several:
            name = f"{folder.parent.name[:30]}/{folder.name}"
        else:
            team = OmoPlace(folder.parent, is_several=True).run(folder.name).suffix.removeprefix("@")
            name = team or folder.name
        return f"{name} (gone)" if self._place.is_gone else name

    @property
    def notice(self) -> str:
        """Return since when the run is gone, if it was gone when opened."""
        folder = self._place.folder
        if not self._place.is_gone:
            return ""
        if self._place.is_several:
            return f"{folder} is gone: showing what was seen of its runs"
        return gone_words(f"run {folder.name}", RunJournal(folder).gone_since())

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def below(self) -> list[str]:
        runs = self._source.runs() if self._place.is_several else [TeamRun(self._place.folder)]
        found: list[Path] = []
        for run in runs:
            found += [run.folder, run.inboxes, run.tasks]
            try:
                inboxes = sorted(path for path in run.inboxes.iterdir() if path.is_dir() and not path.is_symlink())
            except OSError:
                continue
            for inbox in inboxes:
                found += [inbox, inbox / PROCESSED]
        return [str(path) for path in found]

    def content(self, message: Message) -> str:
        return self._found(message).entry.body

    def raw(self, message: Message) -> bytes:
        return self._found(message).entry.raw

    def _found(self, message: Message) -> SeenFile:
        """Return the file of a message; if this store hasn't seen it, from the files and the journal."""
        if (found := self._source.find(message)) is not None:
            return found
        anew = RunsSource(self._place, is_keeping=False)
        try:
            for part in anew.parts(closely=True):
                anew.read(part)
        except OSError as error:
            raise ContentGone(f"{self._place.folder} can't be read", "was the run deleted?") from error
        if (found := anew.find(message)) is None:
            raise ContentGone(f"message {message.id} is in no inbox", "its run was deleted before it was seen")
        return found

    def write_message(self, draft: Draft) -> Message:
        """Write a message from the person into the inbox of each recipient."""
        from mailstore.kinds.omo.writer import write

        try:
            names = self._place.runs()
        except OSError as error:
            raise unreadable(self._place.folder, error) from error
        runs = [self._place.run(name) for name in names]
        for name in self._place.remembered():
            gone = self._place.run(name)
            if name not in names and any(it.endswith(gone.suffix) for it in draft.recipients):
                why = gone_words(f"run {name}", RunJournal(gone.folder).gone_since())
                raise DraftRefused("to", why, "write to a running team")
        run, written = write(runs, draft)
        entry = written[0].entry
        roots = {entry.correlation: entry.correlation} if entry.correlation else {}
        return letter_of(run, written, roots, {seen.inbox for seen in written})
