"""The parts of a mailbox of runs: the roster, and each run's mail."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from itertools import count
from pathlib import Path

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Folder
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.kinds.omo.entries import SeenFile, is_wanted
from mailstore.kinds.omo.letters import identity_of
from mailstore.kinds.omo.mail import PROCESSED, FileKey, RunMail
from mailstore.kinds.omo.places import INBOXES, STATE, OmoPlace, TeamRun
from mailstore.kinds.omo.roster import agents, pending_in, state_of
from mailstore.kit.part_reader import PartSource
from mailstore.kit.team_folders.roster_file import members
from mailstore.kit.team_folders.seen_journal import gone_words
from mailstore.kit.team_folders.task_files import task_stamps
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent

ROSTER = "roster"
LINK = "symbolic link: links are not followed"


class RunsSource(PartSource):
    """A run is one part, however many inboxes it has: only all of them together show what was sent to several.

    A run whose folder is gone keeps its mail, and its agents are dead.
    """

    def __init__(self, place: OmoPlace, *, is_keeping: bool = True) -> None:
        self._place = place
        self._is_keeping = is_keeping
        self._mail: dict[str, RunMail] = {}
        self._inboxes: dict[str, _Inboxes] = {}
        self._stamps: dict[str, Mapping[FileKey, Stamp]] = {}
        self._due: set[str] = set()
        self._gone: set[str] = set()
        self._ticks = count(1)
        self._is_begun = False

    def begin(self) -> None:
        """Forget what was read, but not which runs there were."""
        self._mail = {name: self._begun(name) for name in self._mail}
        self._inboxes = {}

    def _begun(self, name: str) -> RunMail:
        known = self._mail.get(name)
        return RunMail(known.run if known else self._place.run(name), is_keeping=self._is_keeping)

    def runs(self) -> list[TeamRun]:
        """Return all current and former runs."""
        return [mail.run for mail in list(self._mail.values())]

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        there = self._place.runs(self._mail.keys() - self._gone)
        known = list(there)
        if not self._is_begun:
            known += self._place.remembered()
            self._is_begun = True
        for name in known:
            if name not in self._mail:
                self._mail[name] = self._begun(name)
        self._gone = self._mail.keys() - set(there)
        found: dict[str, Hashable] = {ROSTER: ()}
        facts: list[Hashable] = []
        for name, mail in self._mail.items():
            if name not in self._inboxes:
                self._inboxes[name] = _Inboxes(mail.run)
            stamps = {} if name in self._gone else self._inboxes[name].look(closely=closely or bool(mail.pending))
            self._stamps[name] = stamps
            self._due.add(name)
            torn = next(self._ticks) if mail.pending else 0
            state = path_stamp(mail.run.state)
            found[name] = (tuple(stamps.items()), torn, name in self._gone, state, self._unread(name))
            facts.append((state, task_stamps(mail.run.tasks), found[name], mail.version))
        found[ROSTER] = tuple(facts)
        return found

    def read(self, part: str) -> list[Event] | None:
        if part != ROSTER:
            return [*self._looked(part).events(), *self._unread(part)]
        found: list[Agent] = []
        problems: list[Event] = []
        for name in self._mail:
            mail = self._looked(name)
            if name in self._gone:
                since = mail.gone_since()
                found += agents(mail, mail.journal.note().state, gone_since=since)
                problems.append(
                    Problem(f"{mail.run.prefix}{STATE}", 1, 0, gone_words(f"run {name}", since), fatal=False)
                )
                continue
            state = state_of(mail.run)
            if state.is_torn:
                return None
            if members(state.value):
                mail.keep_state(state.value)
            found += agents(mail, state.value)
            if state.problem is not None:
                problems.append(state.problem)
        return [*found, *problems]

    def _unread(self, name: str) -> tuple[Problem, ...]:
        """Return which inboxes of an existing run can't be read."""
        return () if name in self._gone else tuple(self._inboxes[name].problems)

    def _looked(self, name: str) -> RunMail:
        """Return a run's mail as of the last listing of its files."""
        mail = self._mail[name]
        if name in self._due:
            mail.look(self._stamps[name])
            if name not in self._gone:
                mail.hand_over(pending_in(state_of(mail.run).value))
            self._due.discard(name)
        return mail

    def same(self, event: Event) -> Hashable:
        return identity_of(event) if isinstance(event, Message) else event

    def find(self, message: Message) -> SeenFile | None:
        for mail in list(self._mail.values()):
            if (seen := mail.find(message)) is not None:
                return seen
        return None


class _Inboxes:
    """The files in all inboxes of a run, and in their folders of processed messages."""

    def __init__(self, run: TeamRun) -> None:
        self._run = run
        self._folders: dict[Path, Folder] = {}
        self.problems: list[Problem] = []
        """What hid an inbox from the last look."""

    def look(self, *, closely: bool) -> dict[FileKey, Stamp]:
        """Return the stamps of all messages."""
        self.problems = []
        found: dict[FileKey, Stamp] = {}
        for inbox in self._names():
            for is_processed in (False, True):
                path = self._run.inboxes / inbox / PROCESSED if is_processed else self._run.inboxes / inbox
                stamps = self._listed(path, closely=closely)
                found.update({(inbox, is_processed, name): stamp for name, stamp in stamps.items()})
        return found

    def _names(self) -> list[str]:
        """Return the names of the inboxes."""
        if self._run.inboxes.is_symlink():
            self._tell(self._run.inboxes, LINK)
            return []
        try:
            with os.scandir(self._run.inboxes) as entries:
                listed = sorted(entries, key=lambda each: each.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._tell(self._run.inboxes, reason_of(error))
            return []
        for each in listed:
            if each.is_symlink() and os.path.isdir(each.path):  # noqa: PTH112 - it is text
                self._tell(Path(each.path), LINK)
        return [each.name for each in listed if each.is_dir(follow_symlinks=False)]

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
