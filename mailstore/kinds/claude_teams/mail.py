"""One team's mail: the current contents of its inboxes, and everything seen in them before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from operator import is_not

from msgspec.structs import replace

from mailstore.errors import reason_of
from mailstore.files.folder import Stamp
from mailstore.files.whole import read_whole
from mailstore.kinds.claude_teams.copies import SeenEntry, grouped, id_of, identity_of, message_of
from mailstore.kinds.claude_teams.entries import InboxEntry, cut, entry_of
from mailstore.kinds.claude_teams.history import TeamHistory
from mailstore.kinds.claude_teams.joining import EntryKey, Joined, join, owned
from mailstore.kinds.claude_teams.journal import KeptEntry, TeamJournal
from mailstore.kinds.claude_teams.notices import IDLE, notice
from mailstore.kinds.claude_teams.places import INBOXES, Team
from mailstore.kit.part_reader import is_settled
from mailstore.kit.team_folders.seen_mail import TWICE, SeenMail
from mailstore.records.events import Event
from mailstore.records.message import Delivery, Location, Message, Problem, Receipt

NOBODY = ("", "")


class TeamMail(SeenMail[Team, SeenEntry]):
    """The entries that are or were in a team's inboxes, and what its transcripts prove."""

    if_damaged = "what was delivered since may be missing"

    def __init__(self, team: Team, *, is_keeping: bool = True) -> None:
        journal = TeamJournal(team.folder)
        super().__init__(team, journal, is_keeping=is_keeping)
        self.history_version = 0
        self.is_waiting = False
        """Whether messages of transcripts are held back because they may still come to an inbox."""
        self.history = TeamHistory(team.name, journal.facts, is_keeping=is_keeping)
        """What the team's transcripts prove."""
        self._joined = Joined([], {})
        self._entries: dict[tuple[object, int], SeenEntry] = {}
        self._times: dict[str, float] = {}
        self._spoilt: dict[tuple[str, bytes, int], Problem] = {}
        self._messages: dict[int, tuple[list[SeenEntry], Message]] = {}
        self._groups: list[list[SeenEntry]] = []
        self.recall()

    def ended_at(self) -> float | None:
        return self.history.ended_at(any_sign=not self.journal.path.is_file())

    def _remember(self, number: int, kept: KeptEntry) -> None:
        self._put(kept.entry, kept.ordinal, Location(self._file(kept.entry.inbox), number, 0))

    def _state(self) -> Hashable:
        return super()._state(), len(self._spoilt), frozenset(self.pending)

    def _file(self, inbox: str) -> str:
        return f"{self.team.prefix}{INBOXES}/{inbox}.json"

    def _put(self, entry: InboxEntry, ordinal: int, where: Location) -> None:
        time = entry.time if entry.time is not None else self._times.get(entry.inbox, 0.0)
        self._times[entry.inbox] = time
        key = (entry.key, ordinal)
        had = self._entries.get(key)
        if had is not None:
            self._entries[key] = SeenEntry(had.id, entry, ordinal, had.time, where, had.notice)
        else:
            self._entries[key] = SeenEntry(
                id_of(self.team, entry, ordinal), entry, ordinal, time, where, notice(entry.text)
            )

    def _read(self, name: str, stamp: Stamp) -> list[KeptEntry]:
        try:
            data = read_whole(self.team.inboxes / name)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._faults[name] = Problem(self._file(name[:-5]), 1, 0, reason_of(error))
            return []
        elements, damaged_at, reason = cut(data)
        if reason and is_settled(stamp.changed / 1e9):
            self._faults[name] = self._problem(name, data, damaged_at, reason)
        elif reason:
            self.pending.add(name)
        return list(self._merged(name, data, elements))

    def _merged(self, name: str, data: bytes, elements: Iterable[tuple[int, bytes]]) -> Iterator[KeptEntry]:
        inbox = name.removesuffix(".json")
        equals: Counter[object] = Counter()
        for offset, raw in elements:
            entry = entry_of(inbox, raw)
            if isinstance(entry, str):
                key = (name, raw, equals[raw])
                equals[raw] += 1
                if key not in self._spoilt:
                    self._spoilt[key] = self._problem(name, data, offset, entry)
                continue
            ordinal = equals[entry.key]
            equals[entry.key] += 1
            had = self._entries.get((entry.key, ordinal))
            is_new = had is None or (entry.is_delivered and not had.entry.is_delivered)
            if is_new or (had and had.location.length == 0):
                self._put(entry, ordinal, Location(self._file(inbox), offset, len(raw)))
            if is_new:
                yield KeptEntry(entry, ordinal)

    def _problem(self, name: str, data: bytes, offset: int, reason: str) -> Problem:
        return Problem(self._file(name[:-5]), data.count(b"\n", 0, offset) + 1, offset, reason)

    def look_at_transcripts(self) -> bool:
        """Read what came to the transcripts; return whether there is anything new in them."""
        if not self.history.look():
            return False
        self.version += 1
        self.history_version += 1
        self._group()
        return True

    def _group(self) -> None:
        self._joined = join(self.team, self._entries.values(), self.history.facts.values())
        self._groups = grouped([*self._entries.values(), *self._joined.messages])
        by_id: dict[str, list[SeenEntry]] = {}
        for group in self._groups:
            by_id.setdefault(group[0].id, []).extend(group)
        self._by_id = by_id

    def events(self) -> list[Event]:
        found: list[Event] = []
        messages: dict[int, tuple[list[SeenEntry], Message]] = {}
        inboxes = self.inboxes()
        idle = self._first_idle()
        only = {id(seen) for seen in self._joined.messages}
        self.is_waiting = False
        texts: dict[Hashable, str] = {}
        for group in self._groups:
            if self._stamps and id(group[0]) in only and not is_settled(group[0].time):
                self.is_waiting = True
                continue
            known = self._messages.get(id(group[0]))
            if known is None or len(known[0]) != len(group) or any(map(is_not, known[0], group)):
                known = group, self._placed(message_of(self.team, group, inboxes))
            messages[id(group[0])] = known
            message, first_entry = known[1], group[0].entry
            if texts.setdefault(identity_of(message), first_entry.text) != first_entry.text:
                found.append(Problem(group[0].location.file, 1, group[0].location.offset, TWICE))
                continue
            first = idle.get(_idler(group), message.id)
            found.append(message if message.id == first else replace(message, thread=first))
            is_listed = len(group) > 1
            found += [
                Delivery(message.id, self.team.named(seen.entry.inbox))
                for seen in group
                if is_listed or seen.entry.is_delivered
            ]
            found += self._received(message.id, group)
            if message.recipients[-1] == "user" and group[0].notice is not None:
                found.append(Delivery(message.id, "user"))
        self._messages = messages
        return [*found, *self._spoilt.values(), *self._faults.values(), *self.history.problems()]

    def _received(self, message_id: str, group: list[SeenEntry]) -> Iterator[Event]:
        """Yield what transcripts prove: given to a model, and answered by it, which is when it was read."""
        for seen in group:
            key: EntryKey = (seen.entry.key, seen.ordinal)
            if (received := self._joined.received.get(key)) is not None:
                name = self.team.named(seen.entry.inbox)
                if not (len(group) > 1 or seen.entry.is_delivered):
                    yield Delivery(message_id, name)
                if received.answered is not None:
                    yield Receipt(message_id, name, received.answered)

    def _first_idle(self) -> dict[tuple[str, str], str]:
        """Return the first idle notification of each agent to each other one; later ones become its replies."""
        result: dict[tuple[str, str], str] = {}
        for group in self._groups:
            if (key := _idler(group)) != NOBODY:
                result[key] = group[0].id
        return result

    def find(self, message: Message) -> SeenEntry | None:
        entries = self._by_id.get(message.id, [])
        exact = [
            entry
            for entry in entries
            if entry.entry.timestamp == message.timestamp and entry.location == message.location
        ]
        likely = [entry for entry in entries if entry.entry.timestamp == message.timestamp]
        return next(iter(exact or likely or entries), None)

    def traffic(self) -> list[SeenEntry]:
        """Return one copy of every message, newest first."""
        return [group[0] for group in self._groups]

    def owners(self) -> set[str]:
        """Return the agents with a transcript."""
        return {fact.owner for fact in owned(self.history.facts.values(), self.team.name)}

    def inboxes(self) -> set[str]:
        """Return the names of all current and former inboxes."""
        entries = [*self._entries.values(), *self._joined.messages]
        return {name.removesuffix(".json") for name in self._stamps} | {entry.entry.inbox for entry in entries}


def _idler(group: list[SeenEntry]) -> tuple[str, str]:
    """Return sender and recipient of an idle notification; NOBODY for any other message."""
    first = group[0]
    is_idle = first.notice is not None and first.notice.type == IDLE
    return (first.entry.sender, first.entry.inbox) if is_idle else NOBODY
