"""The parts of a mailbox of teams: the roster, and each team's mail, of teams that are gone too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

from mailstore.files.folder import Stamp
from mailstore.kit.part_reader import PartSource
from mailstore.kit.team_folders.files import RosterFile, TeamFolder, TeamLocation
from mailstore.kit.team_folders.seen_journal import gone_words
from mailstore.kit.team_folders.seen_mail import SeenMail
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent

ROSTER = "/roster"
Mail = TypeVar("Mail", bound=SeenMail[Any, Any])


class SeenSource(PartSource, Generic[Mail]):
    """A team is one part, however many inboxes it has: only all of them together show what was sent to several.

    A team whose folder is gone keeps its mail, and its agents are dead.
    """

    called: ClassVar[str]
    """What the program calls a team."""

    def __init__(self, place: TeamLocation, *, is_keeping: bool = True) -> None:
        self._place = place
        self._is_keeping = is_keeping
        self._mail: dict[str, Mail] = {}
        self._stamps: dict[str, Mapping[Any, Stamp]] = {}
        self._due: set[str] = set()
        self._gone: set[str] = set()
        self._ticks = count(1)
        self._is_begun = False

    @abstractmethod
    def _begun(self, team: Any) -> Mail:
        """Return a team's mail, as its journal holds it."""

    @abstractmethod
    def _roster_of(self, team: Any) -> RosterFile:
        """Read a team's roster file."""

    @abstractmethod
    def _agents(self, mail: Mail, roster: dict[str, Any], gone_since: float | None) -> list[Agent]:
        """Return a team's agents."""

    @abstractmethod
    def _identity(self, message: Message) -> Hashable:
        """Return a message's identity, which doesn't depend on its location and number of copies."""

    def begin(self) -> None:
        """Forget what was read, but not which teams there were."""
        self._mail = {name: self._begun(mail.team) for name, mail in self._mail.items()}

    def teams(self) -> list[TeamFolder]:
        """Return all current and former teams."""
        return [mail.team for mail in list(self._mail.values())]

    def _find_teams(self) -> None:
        """Look which teams there are, and the first time which there were."""
        there = self._place.existing(self._mail.keys() - self._gone)
        known = there if self._is_begun else [*there, *self._place.journaled()]
        self._is_begun = True
        for name in known:
            if name not in self._mail:
                self._mail[name] = self._begun(self._place.at(name))
        self._gone = self._mail.keys() - set(there)

    def _listed(self, name: str, stamps: Mapping[Any, Stamp]) -> None:
        """Note the files of a team, which are read when its part is."""
        self._stamps[name] = stamps
        self._due.add(name)

    def _looked(self, name: str) -> Mail:
        """Return a team's mail as of the last listing of its files."""
        mail = self._mail[name]
        if name in self._due:
            mail.look(self._stamps[name])
            self._due.discard(name)
        return mail

    def _roster(self) -> tuple[list[Agent], list[Event]] | None:
        """Return the agents of all teams, and the problems; None while a roster may be half-written."""
        agents: list[Agent] = []
        problems: list[Event] = []
        for name in self._mail:
            mail = self._looked(name)
            if name in self._gone:
                found, told = self._gone_team(name, mail)
                agents += found
                problems += told
                continue
            roster = self._roster_of(mail.team)
            if roster.is_torn:
                return None
            mail.keep_roster(roster.value)
            agents += self._agents(mail, roster.value, None)
            problems += [roster.problem] if roster.problem is not None else []
        return agents, problems

    def _gone_team(self, name: str, mail: Mail) -> tuple[list[Agent], list[Event]]:
        """Return the agents of a team whose folder is gone, and that it is."""
        since = mail.gone_since()
        reason = gone_words(f"{self.called} {name}", since)
        problem = Problem(f"{mail.team.prefix}{mail.team.roster.name}", 1, 0, reason, fatal=False)
        return self._agents(mail, self._kept_roster(mail), since), [problem]

    @abstractmethod
    def _kept_roster(self, mail: Mail) -> dict[str, Any]:
        """Return the roster of a team whose folder is gone."""

    def same(self, event: Event) -> Hashable:
        return self._identity(event) if isinstance(event, Message) else event

    def slot(self, event: Event) -> Hashable:
        """Return a message's identity, too: more of its copies may be found later, and with them more recipients."""
        return self._identity(event) if isinstance(event, Message) else super().slot(event)

    def find(self, message: Message) -> Any:
        """Return what was seen of a message; None if nothing was."""
        messages = (mail.find(message) for mail in list(self._mail.values()))
        return next((seen for seen in messages if seen is not None), None)
