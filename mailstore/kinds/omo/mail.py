"""One run's mail: what is in its inboxes now, and everything seen in them before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

from mailstore.encoding import is_encodable, shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Stamp
from mailstore.files.whole import read_whole
from mailstore.kinds.omo.entries import BROADCAST, OmoEntry, SeenFile, UnreadableEntry, entry_of, stem_of
from mailstore.kinds.omo.journal import KeptFile, RunJournal, kept_as
from mailstore.kinds.omo.places import INBOXES, TeamRun
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.part_reader import is_settled
from mailstore.kit.team_folders.seen_mail import TWICE, SeenMail
from mailstore.records.events import Event
from mailstore.records.message import NEVER, Delivery, Location, Message, Problem, Receipt

PLAIN = "message"
WITHOUT_TEXT = {
    "shutdown_request": "Asks to shut down",
    "shutdown_approved": "Shutdown approved",
    "shutdown_rejected": "Shutdown rejected",
}


def identity_of(message: Message) -> Hashable:
    """Return a message's identity, which doesn't depend on its location and number of copies."""
    return message.id, message.sender, message.timestamp, message.subject, message.thread


def roots_of(entries: Iterable[OmoEntry]) -> dict[str, str]:
    """Return, for each correlation id, the message that it names, else the first one with it."""
    known: set[str] = set()
    first: dict[str, tuple[float, str]] = {}
    for entry in entries:
        known.add(entry.id)
        if entry.correlation:
            this = (float("inf") if entry.time is None else entry.time, entry.id)
            first[entry.correlation] = min(this, first.get(entry.correlation, this))
    return {correlation: correlation if correlation in known else place[1] for correlation, place in first.items()}


def message_of(
    team: TeamRun, copies: list[SeenFile], roots: Mapping[str, str], inboxes: Collection[str] = ()
) -> Message:
    """Return the message of some copies; `inboxes` are the names that a mention can refer to."""
    entry = copies[0].entry
    is_broadcast = entry.to == BROADCAST
    root = roots.get(entry.correlation, entry.id)
    subject = entry.summary or first_line(entry.body)
    said = WITHOUT_TEXT.get(entry.kind, "")
    return Message(
        id=entry.id,
        sender=team.named(entry.sender),
        recipients=("all",) if is_broadcast else tuple(dict.fromkeys(team.named(seen.inbox) for seen in copies)),
        timestamp=entry.timestamp,
        time=copies[0].time,
        subject=f"{said}: {subject}" if said and subject else said or subject,
        thread=None if root == entry.id else root,
        ttl_hours=NEVER,
        type="" if entry.kind == PLAIN else entry.kind,
        tags=tuple(f"reference:{reference}" for reference in entry.references),
        mentions=tuple(team.named(mention) if mention in inboxes else mention for mention in mentions(entry.body)),
        location=Location(copies[0].file, 0, len(entry.raw)),
        timed=entry.time is not None,
        is_listed=is_broadcast or len(copies) > 1,
    )


PROCESSED = "processed"
FileKey = tuple[str, bool, str]
"""An inbox, whether in its folder of processed messages, and a file's name there."""
Key = tuple[str, str, str]
"""An inbox, the name that a message keeps in it, and its id: another message may get the name."""


class RunMail(SeenMail[TeamRun, SeenFile]):
    """The files that are or were in a run's inboxes."""

    if_damaged = "what the program has deleted since may be missing"

    def __init__(self, team: TeamRun, *, is_keeping: bool = True) -> None:
        super().__init__(team, RunJournal(team.folder), is_keeping=is_keeping)
        self._found: dict[Key, SeenFile] = {}
        self._handed: set[tuple[str, str]] = set()
        self.recall()

    def _remember(self, number: int, kept: KeptFile) -> None:
        try:
            entry = entry_of(kept.raw)
        except UnreadableEntry:
            return
        file = self._file((kept.inbox, kept.is_processed, f"{kept.stem}.json"))
        seen = SeenFile(kept.inbox, kept.stem, file, entry, kept.is_processed, kept.changed)
        self._found[kept.inbox, kept.stem, entry.id] = seen

    def _file(self, key: FileKey) -> str:
        inbox, is_processed, name = key
        return f"{self.team.prefix}{INBOXES}/{inbox}/{PROCESSED + '/' if is_processed else ''}{name}"

    def look(self, stamps: Mapping[FileKey, Stamp]) -> None:
        # what was processed comes last, and stays
        super().look(dict(sorted(stamps.items(), key=lambda item: item[0][1])))

    def _read(self, key: FileKey, stamp: Stamp) -> Iterator[KeptFile]:
        inbox, is_processed, name = key
        folder = self.team.inboxes / inbox / PROCESSED if is_processed else self.team.inboxes / inbox
        if not (is_encodable(name) and is_encodable(inbox)):
            self._faults[key] = Problem(shown_name(self._file(key)), 1, 0, "its name is not UTF-8")
            return
        try:
            entry = entry_of(read_whole(folder / name))
        except FileNotFoundError:
            return
        except OSError as error:
            self._faults[key] = Problem(self._file(key), 1, 0, reason_of(error))
            return
        except UnreadableEntry as error:
            if error.is_torn and not is_settled(stamp.changed / 1e9):
                self.pending.add(key)
            else:
                self._faults[key] = Problem(self._file(key), 1, 0, str(error))
            return
        stem = stem_of(name)
        had = self._found.get((inbox, stem, entry.id))
        was_processed = had is not None and had.is_processed
        is_done, changed = is_processed or was_processed, stamp.changed / 1e9
        self._found[inbox, stem, entry.id] = SeenFile(inbox, stem, self._file(key), entry, is_done, changed)
        if had is None or kept_as(had.entry.raw) != kept_as(entry.raw) or (is_processed and not was_processed):
            yield KeptFile(inbox, stem, entry.raw, is_done, changed)

    def _group(self) -> None:
        files: defaultdict[str, list[SeenFile]] = defaultdict(list)
        for seen in self._found.values():
            files[seen.entry.id].append(seen)
        self._by_id = dict(files)

    def hand_over(self, pending: set[tuple[str, str]]) -> None:
        """Take in which messages members were shown (member, id) and have not acknowledged."""
        self._handed |= pending

    def events(self) -> list[Event]:
        groups = [group for copies in self._by_id.values() for group in _groups(copies)]
        groups.sort(key=lambda group: -group[0].time)
        roots = roots_of([group[0].entry for group in groups])
        inboxes = self.inboxes()
        found: list[Event] = []
        keys: set[Hashable] = set()
        for group in groups:
            message = self._placed(message_of(self.team, group, roots, inboxes))
            if (identity := identity_of(message)) in keys:
                found.append(Problem(group[0].file, 1, 0, TWICE))
                continue
            keys.add(identity)
            found.append(message)
            for seen in group:
                name = self.team.named(seen.inbox)
                if message.is_listed or seen.is_processed or (seen.inbox, seen.entry.id) in self._handed:
                    found.append(Delivery(message.id, name))
                if seen.is_processed:
                    found.append(Receipt(message.id, name))
        return [*found, *self._faults.values()]

    def find(self, message: Message) -> SeenFile | None:
        files = self._by_id.get(message.id, [])
        exact = [seen for seen in files if self.team.named(seen.entry.sender) == message.sender]
        likely = [seen for seen in exact if seen.entry.timestamp == message.timestamp]
        return next(iter(likely or exact or files), None)

    def known_ids(self) -> set[str]:
        return set(self._by_id)

    def senders(self) -> dict[str, float | None]:
        """Return whoever has written, with the time of the last message."""
        senders: dict[str, float | None] = {}
        for seen in self._found.values():
            known, time = senders.get(seen.entry.sender), seen.entry.time
            senders[seen.entry.sender] = time if known is None else known if time is None else max(known, time)
        return senders

    def inboxes(self) -> set[str]:
        return {inbox for inbox, *_ in self._stamps} | {inbox for inbox, *_ in self._found}


def _groups(copies: list[SeenFile]) -> list[list[SeenFile]]:
    """Group files with one id that are copies of one message."""
    files: defaultdict[tuple[str, str, str], list[SeenFile]] = defaultdict(list)
    for seen in copies:
        files[seen.entry.sender, seen.entry.timestamp, seen.entry.body].append(seen)
    return [sorted(group, key=lambda seen: (seen.inbox, seen.stem)) for group in files.values()]
