"""The folders of a mailbox and the message files in them, checked as rarely as possible."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp, is_fresh, path_stamp, stamp_there
from mailstore.kinds.agentazall.places import BOXES, DAY, INBOX, OUTBOX, SENT, is_agent_name, trees_of

WATCHED_DAYS = 3
"""Number of each agent's newest days that are watched; older ones are checked now and then."""
WHOLLY_SECONDS = 30.0
TASKS = "what_am_i_doing"
LARGE = 2000
HEAD = 200
"""Number of files in a large box that are checked at every change; the others are checked now and then."""
FEW = 1000


class _Subfolders:
    """The folders in a folder by name, and the symbolic links, which are not followed."""

    def __init__(self, path: Path, is_wanted: Callable[[str], object]) -> None:
        self._path = path
        self._is_wanted = is_wanted
        self._stamp: Stamp | None = None
        self._was_fresh = True
        self.names: list[str] = []
        self.links: list[str] = []
        self.problem = ""

    @property
    def identity(self) -> tuple[int, int] | None:
        return (self._stamp.device, self._stamp.inode) if self._stamp else None

    def look(self) -> bool:
        """Update the entries if they may have changed; return whether the folder exists. Raises OSError."""
        stamp = stamp_there(self._path)
        if stamp is None:
            self._stamp, self._was_fresh, self.names, self.links = None, True, [], []
            return False
        if stamp == self._stamp and not self._was_fresh:
            return True
        was_fresh = is_fresh(stamp)
        names, links = [], []
        self._was_fresh = True  # it is listed again if it can't be listed now
        with os.scandir(self._path) as entries:
            for entry in entries:
                if self._is_wanted(entry.name):
                    if entry.is_symlink():
                        links.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        names.append(entry.name)
        self._stamp, self._was_fresh, self.names, self.links = stamp, was_fresh, sorted(names), sorted(links)
        return True


class AgentFolders:
    """Agents, their days, and the files in the boxes of each day. Not thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._bases: dict[str, _Subfolders] = {}
        self._bases_at = float("-inf")
        self._days: dict[str, _Subfolders] = {}
        self._boxes: dict[str, AgentBox] = {}
        self._linked: list[str] = []
        self.problems: dict[str, str] = {}
        """Why a folder can't be looked at, of those that can't."""
        self._there: dict[str, tuple[int, int] | None] = {}
        self._wholly_at = float("-inf")

    @property
    def agents(self) -> list[str]:
        """Return the agents' folders from the root, as of the last look."""
        return [_joined(tree, name) for tree, agents in self._bases.items() for name in agents.names]

    @property
    def roots(self) -> list[Path]:
        """Return the folders of mailboxes, as of the last look."""
        return [self.root / tree for tree in self._bases]

    def days(self, agent: str) -> list[str]:
        """Return the days of an agent, newest first."""
        return self._days[agent].names[::-1] if agent in self._days else []

    def look_at_folders(self) -> None:
        """List the agents and their days. Raises OSError if the mailbox doesn't exist."""
        if not self.root.is_dir():
            self.root.lstat()
            raise FileNotFoundError(2, "no such file or directory", str(self.root))
        if time.monotonic() - self._bases_at > WHOLLY_SECONDS:
            trees = trees_of(self.root)
            self._bases = {
                tree: self._bases.get(tree) or _Subfolders(self.root / tree, is_agent_name) for tree in trees
            }
            self._bases_at = time.monotonic()
        for agents in self._bases.values():
            agents.look()
        self._days = {
            agent: self._days.get(agent) or _Subfolders(self.root / agent, DAY.fullmatch) for agent in self.agents
        }
        for days in self._days.values():
            days.problem = ""
            try:
                days.look()
            except OSError as error:
                days.problem = reason_of(error)
        there = {agent: days.identity for agent, days in self._days.items()}
        if any(there.get(agent) != identity for agent, identity in self._there.items()):
            # a folder was replaced: everything known about its days is void
            self._boxes = {}
            self._wholly_at = float("-inf")
        self._there = there

    def watched(self) -> Iterator[str]:
        """Yield the folders to watch, relative to the root: those of the newest days."""
        yield from filter(None, self._bases)
        for agent in self.agents:
            yield agent
            for day in self.days(agent)[:WATCHED_DAYS]:
                yield f"{agent}/{day}"
                yield from (f"{agent}/{day}/{box}" for box in (*BOXES, TASKS))

    def parts(self, *, closely: bool) -> dict[str, Hashable]:
        """Return the message files with their stamps: newest day first, and the senders' copies first in each.

        The newest days are checked every time, the older ones now and then. Raises OSError if the mailbox doesn't
        exist.
        """
        self.look_at_folders()
        is_time = time.monotonic() - self._wholly_at > WHOLLY_SECONDS
        by_day: dict[str, list[str]] = {}
        for agent in self.agents:
            for at, day in enumerate(self.days(agent)):
                by_day.setdefault(day, []).append(agent)
                if is_time or at < WATCHED_DAYS or f"{agent}/{day}/{SENT}" not in self._boxes:
                    # a file that moves out of the outbox meanwhile is seen twice rather than never
                    for box in (OUTBOX, SENT, INBOX):
                        self._box(f"{agent}/{day}/{box}").look(closely=closely, wholly=is_time)
        if is_time:
            self._wholly_at = time.monotonic()
            self._linked = list(self._links())
        self.problems = {agent: days.problem for agent, days in self._days.items() if days.problem}
        parts: dict[str, Hashable] = {}
        for day in sorted(by_day, reverse=True):
            boxes = [self._box(f"{agent}/{day}/{box}") for box in BOXES for agent in by_day[day]]
            self.problems.update((one.name, one.problem) for one in boxes if one.problem)
            for one in boxes:
                parts.update(one.head)
            for one in boxes:
                parts.update(one.parts)
                parts.update(one.alone)
        for link in self._linked:
            parts[link] = path_stamp(self.root / link)
        return {**parts, **self.problems}

    def _box(self, name: str) -> AgentBox:
        box = self._boxes.get(name)
        if box is None:
            box = self._boxes[name] = AgentBox(self.root, name)
        return box

    def _links(self) -> Iterator[str]:
        for tree, agents in self._bases.items():
            yield from (_joined(tree, link) for link in agents.links)
        for agent, days in self._days.items():
            yield from (f"{agent}/{day}" for day in days.links)
            for day in days.names:
                for box in BOXES:
                    name = f"{agent}/{day}/{box}"
                    if not self._box(name).parts and os.path.islink(self.root / name):  # noqa: PTH114 - never raises
                        yield name


def _joined(tree: str, name: str) -> str:
    return f"{tree}/{name}" if tree else name


class AgentBox:
    """The message files of a folder; a stamp covers the folder of a message's attachments too.

    `parts` are the files by their path from the root, newest first; `head` is the first of them; `alone` is what may be
    a folder of attachments without its message, with a `/` at the end. Not thread-safe.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self._folder = Folder(root / name, _is_kept)
        self._prefix = f"{name}/"
        self._entries: dict[str, Stamp] = {}
        self.parts: dict[str, Hashable] = {}
        self.head: dict[str, Hashable] = {}
        self.alone: dict[str, Hashable] = {}
        self.problem = ""

    def look(self, *, closely: bool, wholly: bool) -> None:
        """Update the entries; `closely` checks the stamps of the newest files, `wholly` those of all."""
        is_large = len(self._entries) > LARGE
        before = self._entries
        self.problem = ""
        try:
            found = self._folder.look(closely=wholly or (closely and not is_large))
        except OSError as error:
            found, self.problem = before, reason_of(error)
        changed: list[str] = []
        if found is not before:
            changed = [name for name, stamp in found.items() if before.get(name) != stamp]
            changed += [name for name in before if name not in found]
        if closely and is_large:
            names = {part[len(self._prefix) :] for part in self.head}
            stamps = {name: found[name] for name in names if name in found}
            self._folder.look_at(names)
            changed += [name for name, stamp in stamps.items() if found[name] != stamp]
        self._entries = found
        if changed:
            self._take_in({name if name.endswith(".txt") else f"{name}.txt" for name in changed})

    def _take_in(self, changed: set[str]) -> None:
        """Put the changed files in front, or sort all of them if many changed."""
        for name in changed:
            beside = self._entries.get(name[:-4]) if name not in self._entries else None
            if beside is not None:
                self.alone[f"{self._prefix}{name[:-4]}/"] = beside
            else:
                self.alone.pop(f"{self._prefix}{name[:-4]}/", None)
        is_few = len(changed) < FEW < len(self.parts)
        names: Iterable[str] = changed if is_few else (name for name in self._entries if name.endswith(".txt"))
        rows = sorted((name for name in names if name in self._entries), key=self._age)
        fresh = {self._prefix + name: self._stamp(name) for name in rows}
        if is_few:
            gone = {self._prefix + name for name in changed}
            fresh.update((part, stamp) for part, stamp in self.parts.items() if part not in gone)
        self.parts = fresh
        self.head = dict(islice(fresh.items(), HEAD))

    def _age(self, name: str) -> tuple[int, str]:
        return -self._entries[name].changed, name

    def _stamp(self, name: str) -> Hashable:
        stamp, beside = self._entries[name], self._entries.get(name[:-4])
        return (stamp, beside) if beside else stamp


def _is_kept(name: str) -> bool:
    """Return whether a name may be a message's or its attachment folder's."""
    return not (name.startswith(".") or name.endswith((".tmp", ".synced", ".ftp_synced")))
