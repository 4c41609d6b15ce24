"""One run's mail: what is in its inboxes now, and everything seen in them before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from mailstore.encoding import is_encodable, shown_name
from mailstore.errors import reason_of
from mailstore.files.stamp import Stamp, is_fresh
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.omo.entries import SeenFile, UnreadableEntry, entry_of, stem_of
from mailstore.kinds.omo.journal import KeptFile, RunJournal, kept_as
from mailstore.kinds.omo.letters import identity_of, letter_of, roots_of
from mailstore.kinds.omo.places import INBOXES, TeamRun
from mailstore.kit.part_reader import is_settled
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Message, Problem, Receipt

PROCESSED = "processed"
DAMAGED = "the program has deleted since may be missing"
TWICE = "it has another text under the id, the time and the subject of another message, which is shown"
FileKey = tuple[str, bool, str]
"""An inbox, whether in its folder of processed messages, and a file's name there."""
Key = tuple[str, str, str]
"""An inbox, the name that a message keeps in it, and its id: another message may get the name."""


class RunMail:
    """Remember every message that was in a run's inboxes; one that is gone stays as it was last seen.

    Only what is new is written, to the journal alone. Not thread-safe except for `find`.
    """

    def __init__(self, run: TeamRun, *, is_keeping: bool = True) -> None:
        self.run = run
        self.journal = RunJournal(run.folder)
        self.pending: set[FileKey] = set()
        """Files that may be half-written."""
        self.version = 0
        self._is_keeping = is_keeping
        self._seen: dict[Key, SeenFile] = {}
        self._stamps: dict[FileKey, Stamp | None] = {}
        self._faults: dict[FileKey | str, Problem] = {}
        self._unkept: list[KeptFile] = []
        """What could not be stored in the journal yet."""
        self._handed: set[tuple[str, str]] = set()
        self._by_id: dict[str, list[SeenFile]] = {}
        self._remember()

    def gone_since(self) -> float:
        """Return since when a missing run is gone, in seconds since the epoch."""
        return self.journal.gone_since(is_keeping=self._is_keeping)

    def keep_state(self, state: dict[str, object]) -> None:
        """Store the members for when the run is gone."""
        if self._is_keeping:
            self.journal.remember(state)

    def _remember(self) -> None:
        try:
            for kept in self.journal.read():
                try:
                    entry = entry_of(kept.raw)
                except UnreadableEntry:
                    continue
                file = self._file((kept.inbox, kept.is_processed, f"{kept.stem}.json"))
                seen = SeenFile(kept.inbox, kept.stem, file, entry, kept.is_processed, kept.changed)
                self._seen[kept.inbox, kept.stem, entry.id] = seen
        except (OSError, NotAFile) as error:
            self._faults["read"] = Problem(str(self.journal.path), 1, 0, f"the journal can't be read: {error}", False)
        if count := self.journal.damaged:
            many = f"{count:,} lines of the journal are" if count > 1 else "a line of the journal is"
            self._faults["read"] = Problem(str(self.journal.path), 1, 0, f"{many} damaged: what {DAMAGED}", False)
        self._file_by_id()

    def _file(self, key: FileKey) -> str:
        inbox, is_processed, name = key
        return f"{self.run.prefix}{INBOXES}/{inbox}/{PROCESSED + '/' if is_processed else ''}{name}"

    def look(self, stamps: Mapping[FileKey, Stamp]) -> None:
        """Read the files that have changed; `stamps` are those of the existing ones."""
        news: list[KeptFile] = []
        before = dict(self._faults)
        for key in [key for key in self._stamps if key not in stamps]:
            del self._stamps[key]
            self.pending.discard(key)
            self._faults.pop(key, None)
        # what was processed comes last, and stays
        for key, stamp in sorted(stamps.items(), key=lambda item: item[0][1]):
            if self._stamps.get(key) != stamp or key in self.pending:
                news += self._read(key, stamp)
                self._stamps[key] = None if is_fresh(stamp) else stamp
        if self._is_keeping:
            self._keep(news)
        if news or self._faults != before:
            self.version += 1
            self._file_by_id()

    def _keep(self, news: list[KeptFile]) -> None:
        """Store what is new, and what could not be stored before."""
        self._unkept += news
        if why := self.journal.keep(self._unkept):
            self._faults["keep"] = Problem(str(self.journal.path), 1, 0, why, False)
        else:
            self._unkept = []
            self._faults.pop("keep", None)

    def _read(self, key: FileKey, stamp: Stamp) -> Iterator[KeptFile]:
        """Read one file; yield it if it says something new."""
        self._faults.pop(key, None)
        self.pending.discard(key)
        inbox, is_processed, name = key
        folder = self.run.inboxes / inbox / PROCESSED if is_processed else self.run.inboxes / inbox
        if not (is_encodable(name) and is_encodable(inbox)):
            self._faults[key] = Problem(shown_name(self._file(key)), 1, 0, "its name is not UTF-8")
            return
        try:
            entry = entry_of(read_whole(folder / name))
        except FileNotFoundError:
            return
        except (NotAFile, OSError) as error:
            self._faults[key] = Problem(self._file(key), 1, 0, reason_of(error))
            return
        except UnreadableEntry as error:
            if error.is_torn and not is_settled(stamp.changed / 1e9):
                self.pending.add(key)
            else:
                self._faults[key] = Problem(self._file(key), 1, 0, str(error))
            return
        stem = stem_of(name)
        had = self._seen.get((inbox, stem, entry.id))
        was_processed = had is not None and had.is_processed
        is_done, changed = is_processed or was_processed, stamp.changed / 1e9
        self._seen[inbox, stem, entry.id] = SeenFile(inbox, stem, self._file(key), entry, is_done, changed)
        if had is None or kept_as(had.entry.raw) != kept_as(entry.raw) or (is_processed and not was_processed):
            yield KeptFile(inbox, stem, entry.raw, is_done, changed)

    def _file_by_id(self) -> None:
        found: defaultdict[str, list[SeenFile]] = defaultdict(list)
        for seen in self._seen.values():
            found[seen.entry.id].append(seen)
        self._by_id = dict(found)

    def hand_over(self, pending: set[tuple[str, str]]) -> None:
        """Take in which messages members were shown (member, id) and have not acknowledged."""
        self._handed |= pending

    def events(self) -> list[Event]:
        """Return the messages, newest first, with their deliveries and receipts, and the problems."""
        groups = [group for copies in self._by_id.values() for group in _groups(copies)]
        groups.sort(key=lambda group: -group[0].time)
        roots = roots_of([group[0].entry for group in groups])
        inboxes = self.inboxes()
        found: list[Event] = []
        told: set[Hashable] = set()
        for group in groups:
            message = letter_of(self.run, group, roots, inboxes)
            if (identity := identity_of(message)) in told:
                found.append(Problem(group[0].file, 1, 0, TWICE))
                continue
            told.add(identity)
            found.append(message)
            for seen in group:
                name = self.run.named(seen.inbox)
                if message.is_listed or seen.is_processed or (seen.inbox, seen.entry.id) in self._handed:
                    found.append(Delivery(message.id, name))
                if seen.is_processed:
                    found.append(Receipt(message.id, name))
        return [*found, *self._faults.values()]

    def find(self, message: Message) -> SeenFile | None:
        """Return the file of a message; among several with its id the one that the message is from."""
        found = self._by_id.get(message.id, [])
        exact = [seen for seen in found if self.run.named(seen.entry.sender) == message.sender]
        likely = [seen for seen in exact if seen.entry.timestamp == message.timestamp]
        return next(iter(likely or exact or found), None)

    def known_ids(self) -> set[str]:
        """Return the ids of all messages seen."""
        return set(self._by_id)

    def senders(self) -> dict[str, float | None]:
        """Return whoever has written, with the time of the last message."""
        found: dict[str, float | None] = {}
        for seen in self._seen.values():
            known, time = found.get(seen.entry.sender), seen.entry.time
            found[seen.entry.sender] = time if known is None else known if time is None else max(known, time)
        return found

    def inboxes(self) -> set[str]:
        """Return the names of all current and former inboxes."""
        return {inbox for inbox, *_ in self._stamps} | {inbox for inbox, *_ in self._seen}


def _groups(copies: list[SeenFile]) -> list[list[SeenFile]]:
    """Group files with one id that are copies of one message."""
    found: defaultdict[tuple[str, str, str], list[SeenFile]] = defaultdict(list)
    for seen in copies:
        found[seen.entry.sender, seen.entry.timestamp, seen.entry.body].append(seen)
    return [sorted(group, key=lambda seen: (seen.inbox, seen.stem)) for group in found.values()]
