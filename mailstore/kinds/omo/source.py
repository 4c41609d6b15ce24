"""The parts of a mailbox of runs: the roster, and each run's mail."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp, path_stamp
from mailstore.kinds.omo.entries import is_wanted
from mailstore.kinds.omo.mail import PROCESSED, FileKey, RunMail, identity_of
from mailstore.kinds.omo.places import INBOXES, OmoPlace, TeamRun
from mailstore.kinds.omo.roster import agents, pending_in, state_of
from mailstore.kit.team_folders.files import RosterFile, task_stamps
from mailstore.kit.team_folders.seen_source import ROSTER, SeenSource
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent

LINK = "symbolic link: links are not followed"


class RunsSource(SeenSource[RunMail]):
    """The runs of teams."""

    called = "run"

    def __init__(self, place: OmoPlace, *, is_keeping: bool = True) -> None:
        super().__init__(place, is_keeping=is_keeping)
        self._inboxes: dict[str, _Inboxes] = {}

    def begin(self) -> None:
        super().begin()
        self._inboxes = {}

    def _begun(self, team: TeamRun) -> RunMail:
        return RunMail(team, is_keeping=self._is_keeping)

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        self._find_teams()
        parts: dict[str, Hashable] = {ROSTER: ()}
        facts: list[Hashable] = []
        for name, mail in self._mail.items():
            inboxes = self._inboxes.setdefault(name, _Inboxes(mail.team))
            stamps = {} if name in self._gone else inboxes.look(closely=closely or bool(mail.pending))
            self._listed(name, stamps)
            torn = next(self._ticks) if mail.pending else 0
            state = path_stamp(mail.team.roster)
            parts[name] = (tuple(stamps.items()), torn, name in self._gone, state, self._unread(name))
            facts.append((state, task_stamps(mail.team.tasks), parts[name], mail.version))
        parts[ROSTER] = tuple(facts)
        return parts

    def read(self, part: str) -> list[Event] | None:
        if part != ROSTER:
            return [*self._looked(part).events(), *self._unread(part)]
        roster = self._roster()
        return None if roster is None else [*roster[0], *roster[1]]

    def _roster_of(self, team: TeamRun) -> RosterFile:
        return state_of(team)

    def _kept_roster(self, mail: RunMail) -> dict[str, Any]:
        state: dict[str, Any] = mail.journal.note().state
        return state

    def _agents(self, mail: RunMail, roster: dict[str, Any], gone_since: float | None) -> list[Agent]:
        return agents(mail, roster, gone_since=gone_since)

    def _identity(self, message: Message) -> Hashable:
        return identity_of(message)

    def _unread(self, name: str) -> tuple[Problem, ...]:
        """Return which inboxes of an existing run can't be read."""
        return () if name in self._gone else tuple(self._inboxes[name].problems)

    def _looked(self, name: str) -> RunMail:
        is_due = name in self._due
        mail = super()._looked(name)
        if is_due and name not in self._gone:
            mail.hand_over(pending_in(state_of(mail.team).value))
        return mail


class _Inboxes:
    """The files in all inboxes of a run, and in their folders of processed messages."""

    def __init__(self, run: TeamRun) -> None:
        self._run = run
        self._folders: dict[Path, Folder] = {}
        self.problems: list[Problem] = []
        """What hid an inbox from the last look."""

    def look(self, *, closely: bool) -> dict[FileKey, Stamp]:
        self.problems = []
        result: dict[FileKey, Stamp] = {}
        for inbox in self._names():
            for is_processed in (False, True):
                path = self._run.inboxes / inbox / PROCESSED if is_processed else self._run.inboxes / inbox
                stamps = self._listed(path, closely=closely)
                result.update({(inbox, is_processed, name): stamp for name, stamp in stamps.items()})
        return result

    def _names(self) -> list[str]:
        try:
            if self._run.inboxes.is_symlink():
                self._tell(self._run.inboxes, LINK)
                return []
            with os.scandir(self._run.inboxes) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._tell(self._run.inboxes, reason_of(error))
            return []
        for entry in listed:
            if entry.is_symlink() and os.path.isdir(entry.path):  # noqa: PTH112 - it is text
                self._tell(Path(entry.path), LINK)
        return [entry.name for entry in listed if entry.is_dir(follow_symlinks=False)]

    def _listed(self, path: Path, *, closely: bool) -> dict[str, Stamp]:
        """Return the stamps of the messages in a folder."""
        folder = self._folders.setdefault(path, Folder(path, is_wanted))
        try:
            if path.is_symlink():
                self._tell(path, LINK)
                return {}
            return folder.look(closely=closely)
        except OSError as error:
            del self._folders[path]
            self._tell(path, reason_of(error))
            return {}

    def _tell(self, path: Path, reason: str) -> None:
        name = f"{self._run.prefix}{INBOXES}{str(path).removeprefix(str(self._run.inboxes))}"
        self.problems.append(Problem(shown_name(name), 1, 0, reason))
