"""A team's mail, of what is in its inboxes now and of all that was seen in them before, because it is deleted there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace

from mailstore.errors import reason_of
from mailstore.files.folder import Stamp, is_fresh
from mailstore.files.whole import NotAFile
from mailstore.kit.team_folders.files import TeamFolder
from mailstore.kit.team_folders.seen_journal import SeenJournal
from mailstore.records.events import Event
from mailstore.records.message import Location, Message, Problem

Team = TypeVar("Team", bound=TeamFolder)
Seen = TypeVar("Seen")
TWICE = "it has another text under the id, the time and the subject of another message, which is shown"


class SeenMail(ABC, Generic[Team, Seen]):
    """Remembers every message that was in a team's inboxes; one that is gone stays as it was last seen.

    Only what is new is written, to the journal alone. Not thread-safe except for `find`.
    """

    if_damaged: ClassVar[str] = "may be missing"
    """What damaged lines of the journal mean."""

    def __init__(self, team: Team, journal: SeenJournal[Any], *, is_keeping: bool) -> None:
        self.team = team
        self.journal = journal
        self.pending: set[Any] = set()
        """Files that may be half-written."""
        self.version = 0
        self._is_keeping = is_keeping
        self._stamps: dict[Any, Stamp | None] = {}
        self._faults: dict[Any, Problem] = {}
        """What can't be read, by file, and what can't be kept."""
        self._unkept: list[Any] = []
        """What could not be stored in the journal yet."""
        self._by_id: dict[str, list[Seen]] = {}
        self._places: dict[tuple[str, str, str], Location | None] = {}

    @abstractmethod
    def _remember(self, number: int, kept: Any) -> None:
        """Take in what the journal holds, line by line, from 0."""

    @abstractmethod
    def _read(self, key: Any, stamp: Stamp) -> Iterable[Any]:
        """Read a file; return what is new in it, as the journal keeps it."""

    @abstractmethod
    def _group(self) -> None:
        """Make messages of all that was seen."""

    @abstractmethod
    def events(self) -> list[Event]:
        """Return the messages, newest first, what is recorded of them, and the problems."""

    def _placed(self, message: Message) -> Message:
        """Return a message at the place where it was found first: it may move, or a copy be found that comes first."""
        place = self._places.setdefault((message.id, message.sender, message.timestamp), message.location)
        return message if place == message.location else replace(message, location=place)

    @abstractmethod
    def find(self, message: Message) -> Seen | None:
        """Return what was seen of a message; among several with its id the one that it is from."""

    def _state(self) -> Hashable:
        """Return what else than messages `events` depends on."""
        return tuple(self._faults.items())

    def ended_at(self) -> float | None:
        """Return when a missing team ended, in seconds since the epoch, as far as anything but the journal says."""
        return None

    def gone_since(self) -> float:
        """Return since when a missing team is gone, in seconds since the epoch."""
        return self.journal.gone_since(is_keeping=self._is_keeping, ended=self.ended_at())

    def keep_roster(self, roster: dict[str, Any]) -> None:
        """Store the members for when the team is gone."""
        if self._is_keeping:
            self.journal.remember(roster)

    def recall(self) -> None:
        """Take in what the journal holds."""
        try:
            for number, kept in enumerate(self.journal.read()):
                self._remember(number, kept)
        except (OSError, NotAFile) as error:
            self._tell("read", f"the journal can't be read: {reason_of(error)}")
        if count := self.journal.damaged:
            many = f"{count:,} lines of the journal are" if count > 1 else "a line of the journal is"
            self._tell("read", f"{many} damaged: {self.if_damaged}")
        self._group()

    def _tell(self, what: str, reason: str) -> None:
        self._faults[what] = Problem(str(self.journal.path), 1, 0, reason, False)

    def look(self, stamps: Mapping[Any, Stamp]) -> None:
        """Read the files that have changed; `stamps` are those of the existing ones."""
        news: list[Any] = []
        before = self._state()
        for key in [key for key in self._stamps if key not in stamps]:
            del self._stamps[key]
            self._forget_faults(key)
        for key, stamp in stamps.items():
            if self._stamps.get(key) != stamp or key in self.pending:
                self._forget_faults(key)
                news += self._read(key, stamp)
                self._stamps[key] = None if is_fresh(stamp) else stamp
        if self._is_keeping:
            self._keep(news)
        if news or self._state() != before:
            self.version += 1
            self._group()

    def _forget_faults(self, key: Any) -> None:
        self.pending.discard(key)
        self._faults.pop(key, None)

    def _keep(self, news: list[Any]) -> None:
        """Store what is new, and what could not be stored before."""
        self._unkept += news
        if why := self.journal.keep(self._unkept):
            self._tell("keep", why)
        else:
            self._unkept = []
            self._faults.pop("keep", None)
