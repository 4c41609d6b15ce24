"""The parts of an archive without a database: messages and profiles (docs/formats/agent-mail.md#archive)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from heapq import nlargest
from pathlib import Path

from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp
from mailstore.files.salvage import loads
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agent_mail.message import InvalidArchivedFile, archived_file_of, message_of, number_of
from mailstore.kinds.agent_mail.places import PROJECTS, YEAR
from mailstore.kinds.agent_mail.roster import OVERSEER, called
from mailstore.kit.bodies import first_line
from mailstore.kit.part_reader import PartSource, is_settled
from mailstore.kit.tables import text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Event
from mailstore.records.message import Problem
from mailstore.records.roster import Agent, Status

ROSTER = "roster"
NEWEST = 100
"""Number of newest files in a folder that are checked for changes; files are normally written once."""
PROFILE = "profile.json"
MONTH = re.compile(r"\d{2}")
CANONICAL = re.compile(rb"\]\(([^)\n]*__\d+\.md)\)")


class ArchiveSource(PartSource):
    """The messages of all projects by file path, and the roster."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[str, Folder] = {}
        self._looked: dict[str, dict[str, Stamp]] = {}
        self._newest: dict[str, list[str]] = {}
        self._has_changed = False
        self._parts: dict[str, Hashable] = {}
        self._found: dict[str, Stamp] = {}
        self._seen: dict[str, None] = {}
        self._roots: dict[tuple[str, str], str] = {}
        self._profiles: list[tuple[str, Stamp]] = []
        self._has_several = False
        self._unreadable: dict[str, str] = {}
        """Why a folder can't be listed, of those that can't."""

    def begin(self) -> None:
        self._seen, self._roots, self._parts = {}, {}, {}

    def folders(self) -> list[str]:
        """Return the folders that receive messages, relative to the root."""
        return [PROJECTS, *(name for name in self._folders if name != PROJECTS)]

    def _look(self, name: str, *, closely: bool = False) -> dict[str, Stamp]:
        """Return a folder's entries; `closely` also checks whether the newest have changed in place."""
        folder = self._folders.setdefault(name, Folder(self._root / name))
        try:
            stamps = folder.look()
        except OSError as error:
            self._unreadable[name] = reason_of(error)
            return self._looked.get(name, {})
        if stamps is not self._looked.get(name):
            self._looked[name], self._has_changed = stamps, True
            self._newest[name] = nlargest(NEWEST, stamps)
        if closely and folder.look_at(self._newest[name]):
            self._has_changed = True
        return stamps

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        if not (self._root / PROJECTS).is_dir():
            raise FileNotFoundError(2, "no such folder", str(self._root / PROJECTS))
        months: dict[str, dict[str, Stamp]] = {}
        profiles: list[tuple[str, Stamp]] = []
        self._has_changed = False
        before, self._unreadable = self._unreadable, {}
        slugs = sorted(self._look(PROJECTS))
        for slug in slugs:
            base = f"{PROJECTS}/{slug}"
            for year in filter(YEAR.fullmatch, self._look(f"{base}/messages")):
                for month in filter(MONTH.fullmatch, self._look(f"{base}/messages/{year}")):
                    place = f"{base}/messages/{year}/{month}"
                    months[place] = self._look(place, closely=closely)
            for agent in self._look(f"{base}/agents"):
                stamp = self._look(f"{base}/agents/{agent}", closely=closely).get(PROFILE)
                if stamp is not None:
                    profiles.append((f"{base}/agents/{agent}/{PROFILE}", stamp))
        self._has_several = len(slugs) > 1
        self._profiles = profiles
        roster = (tuple(stamp for _, stamp in profiles), len(self._seen), self._has_several)
        if self._has_changed or self._unreadable != before or self._parts.get(ROSTER) != roster:
            messages = [
                (name, f"{place}/{name}", stamp)
                for place, value in months.items()
                for name, stamp in value.items()
                if name.endswith(".md")
            ]
            messages.sort(reverse=True)
            self._found = {path: stamp for _, path, stamp in messages}
            several = self._has_several
            found = {path: (stamp, several) for path, stamp in self._found.items()}
            self._parts = {ROSTER: roster, **found, **self._unreadable}
        return self._parts

    def read(self, part: str) -> list[Event] | None:
        if part == ROSTER:
            return self._roster()
        if part in self._unreadable:
            return [Problem(part, 1, 0, self._unreadable[part])]
        try:
            data = read_whole(self._root / part)
            mail = archived_file_of(data)
        except NotAFile as error:
            return [Problem(part, 1, 0, str(error))]
        except FileNotFoundError:
            return []
        except OSError as error:
            return [Problem(part, 1, 0, reason_of(error))]
        except InvalidArchivedFile as error:
            if error.is_cut and not is_settled(self._found[part].changed / 1e9):
                return None
            return [Problem(part, 1, 0, str(error))]
        slug = part.split("/")[1]
        label = text_of(mail.head.get("thread_id"))
        root = self._first(slug, label) if label else None
        before = self._found[part].changed / 1e9
        message = message_of(mail, part, len(data), slug if self._has_several else "", root, before)
        self._seen.update(dict.fromkeys((message.sender, *message.recipients)))
        return [message]

    def _first(self, slug: str, label: str) -> str | None:
        """Return the first message of a thread, from its digest or because the label is its number."""
        if (slug, label) not in self._roots:
            first = None
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", label)
            digest = self._root / PROJECTS / slug / "messages" / "threads" / f"{name}.md"
            try:
                data = read_whole(digest)
                if match := CANONICAL.search(data):
                    first = number_of(match[1].decode("utf-8", "replace"))
            except (OSError, NotAFile):
                first = None
            if first is None:
                if not label.isdecimal():
                    return None
                first = label
            self._roots[slug, label] = first
        return self._roots[slug, label]

    def _roster(self) -> list[Event]:
        agents: dict[str, Event] = {}
        problems: list[Event] = []
        for path, _ in self._profiles:
            slug = path.split("/")[1]
            try:
                known = loads(read_whole(self._root / path))
            except FileNotFoundError:
                continue
            except (NotAFile, OSError, ValueError, RecursionError) as error:
                problems.append(Problem(path, 1, 0, f"not a profile: {reason_of(error)[:100]}"))
                continue
            if not isinstance(known, dict):
                problems.append(Problem(path, 1, 0, "not a profile: not a JSON object"))
                continue
            name = text_of(known.get("name")) or path.split("/")[3]
            if name != OVERSEER:
                agent = _agent(known, name, called(name, slug if self._has_several else ""))
                agents[agent.session_id] = agent
        for name in self._seen:
            if name and name != "user":
                agents.setdefault(name, Agent(name))
        return [*agents.values(), *problems]


def _agent(known: dict[str, object], name: str, session: str) -> Agent:
    retired = time_of(known.get("retired_at"))
    work = " ".join(filter(None, (text_of(known.get("program")), text_of(known.get("model")))))
    return Agent(
        session_id=session,
        name=name if name != session else "",
        status=Status.LIVING if known.get("retired_at") is None else Status.DEAD,
        activity=first_line(text_of(known.get("task_description"))) or work,
        started_at=time_of(known.get("inception_ts")),
        ended_at=retired,
        last_seen=time_of(known.get("last_active_ts")),
    )
