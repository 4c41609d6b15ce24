"""The parts of a mailbox of runs: the roster, and each run's mail."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from itertools import count

from mailstore.files.folder import Folder
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.kit.part_reader import PartSource
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.stores.omo.entries import SeenFile, is_wanted
from mailstore.stores.omo.mail import PROCESSED, FileKey, RunMail
from mailstore.stores.omo.places import STATE, OmoPlace, TeamRun
from mailstore.stores.omo.roster import agents, gone_words, members, pending_in, state_of, task_stamps

__all__ = ["RunsSource"]

ROSTER = "roster"
MOST_INBOXES = 200


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
        """Return the roster and the runs."""
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
            found[name] = (tuple(stamps.items()), torn, name in self._gone, state)
            facts.append((state, task_stamps(mail.run), found[name], mail.version))
        found[ROSTER] = tuple(facts)
        return found

    def read(self, part: str) -> list[Event] | None:
        """Return the agents, or a run's mail."""
        if part != ROSTER:
            return self._looked(part).events()
        found: list[Agent] = []
        problems: list[Event] = []
        for name in self._mail:
            mail = self._looked(name)
            if name in self._gone:
                since = mail.gone_since()
                found += agents(mail, mail.journal.note().state, gone_since=since)
                problems.append(Problem(f"{mail.run.prefix}{STATE}", 1, 0, gone_words(name, since), fatal=False))
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
        """Return a message's identity, which doesn't depend on its location and number of copies."""
        if isinstance(event, Message):
            return event.id, event.sender, event.timestamp, event.subject, event.thread
        return event

    def find(self, message: Message) -> SeenFile | None:
        """Return the file of a message."""
        for mail in list(self._mail.values()):
            if (seen := mail.find(message)) is not None:
                return seen
        return None


class _Inboxes:
    """The files in all inboxes of a run, and in their folders of processed messages."""

    def __init__(self, run: TeamRun) -> None:
        self._run = run
        self._folders: dict[tuple[str, bool], Folder] = {}

    def look(self, *, closely: bool) -> dict[FileKey, Stamp]:
        """Return the stamps of all messages. Raises OSError."""
        found: dict[FileKey, Stamp] = {}
        for inbox in self._names():
            for is_processed in (False, True):
                place = (inbox, is_processed)
                if place not in self._folders:
                    path = self._run.inboxes / inbox
                    self._folders[place] = Folder(path / PROCESSED if is_processed else path, is_wanted)
                if is_processed and (self._run.inboxes / inbox).is_symlink():
                    continue
                stamps = self._folders[place].look(closely=closely)
                found.update({(inbox, is_processed, name): stamp for name, stamp in stamps.items()})
        return found

    def _names(self) -> list[str]:
        try:
            if self._run.inboxes.is_symlink():
                return []
            with os.scandir(self._run.inboxes) as entries:
                return sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))[:MOST_INBOXES]
        except (FileNotFoundError, NotADirectoryError):
            return []
