"""Which transcripts are a team's, and which teams transcripts name; of any others only what names a team is read."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.lines import next_data
from mailstore.files.salvage import UNREADABLE
from mailstore.files.whole import open_regular, read_whole
from mailstore.kinds.claude_teams.facts import TEAM, TranscriptOrigin, team_name
from mailstore.records.message import Problem

HEAD = 1 << 16
BLOCK = 4 << 20
IMPLICIT = re.compile(r"session-([0-9a-f]{8})")
NAMED = re.compile(rb'"teamName":"(%b)"' % TEAM.pattern.encode())
KEY = b'"teamName":"'


class TeamFile(NamedTuple):
    """A transcript of a team."""

    path: Path
    origin: TranscriptOrigin

    @property
    def name(self) -> str:
        """Return its name as it is shown."""
        return self.origin.file


class _Meta(msgspec.Struct):
    agent_type: str = msgspec.field(default="", name="agentType")
    name: str = ""
    team: str = msgspec.field(default="", name="teamName")
    depth: int | None = msgspec.field(default=None, name="spawnDepth")


META = msgspec.json.Decoder(_Meta)


class _Head(msgspec.Struct):
    team: str | None = msgspec.field(default=None, name="teamName")
    agent: str | None = msgspec.field(default=None, name="agentName")


TOP = msgspec.json.Decoder(_Head)


def projects_beside(team: Path) -> Path | None:
    """Return the folder of transcripts of the program whose team this is; None for a copy that lies elsewhere."""
    return team.parent.parent / "projects" if team.parent.name == "teams" else None


class Projects:
    """The folder with a folder for each project, in which each session has a transcript, and one for each subagent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._named: dict[Path, tuple[int, int, frozenset[str]]] = {}
        """How far a session was searched, its size then, and the teams that it names."""
        self._metas: dict[Path, _Meta] = {}
        self.unread: dict[Path, str] = {}
        """The folders that can't be listed, and why."""

    def problems(self) -> tuple[Problem, ...]:
        """Return which folders can't be listed: there may be messages in them."""
        place = self._folder.parent
        reasons = ((shown_name(str(path.relative_to(place))), why) for path, why in sorted(self.unread.items()))
        return tuple(Problem(name, 1, 0, why) for name, why in reasons)

    def teams(self) -> dict[str, set[str]]:
        """Return the sessions that name a team, by team."""
        teams: defaultdict[str, set[str]] = defaultdict(set)
        for project in self._folders():
            for path in sorted({each.with_suffix(".jsonl") for each in self._listed(project) if self._is_one(each)}):
                agents = path.with_suffix("") / "subagents"
                metas = [meta for agent in self._agents(agents) if (meta := self._meta(agent)) is not None]
                is_old = self._is_there(agents) and all(meta.depth is None for meta in metas)
                named = {meta.team for meta in metas if meta.team} or self._names(path, whole=is_old)
                for name in named:
                    teams[name].add(path.stem)
        return dict(teams)

    def files(self, team: str, leads: Collection[str], folders: Collection[str] = ()) -> list[TeamFile]:
        """Return a team's transcripts, given the ids of its lead's sessions and its members' working folders."""
        implicit = IMPLICIT.fullmatch(team)
        projects = self._folders()
        slugs = {re.sub(r"[^a-zA-Z0-9]", "-", folder) for folder in folders}
        files: list[TeamFile] = []
        chosen = [project for project in projects if project.name in slugs]
        for project in projects:
            self.unread.pop(project, None)
            sessions = {lead for lead in leads if self._is_session(project, lead)}
            if implicit:
                sessions |= {path.stem for path in self._listed(project) if path.stem.startswith(implicit[1])}
            for session in sorted(sessions):
                files += self._session(project, session, team)
            if sessions and project not in chosen:
                chosen.append(project)
        had = {file.origin.session for file in files}
        for project in chosen:
            for path in self._transcripts(project):
                if path.stem not in had and team in self._names(path, whole=not files and not implicit):
                    files += self._session(project, path.stem, team)
        return files

    def _session(self, project: Path, session: str, team: str) -> Iterator[TeamFile]:
        main = project / f"{session}.jsonl"
        shown = f"projects/{project.name}/{session}"
        if self._is_there(main):
            yield TeamFile(
                main, TranscriptOrigin(f"{shown}.jsonl", session, team=team if IMPLICIT.fullmatch(team) else "")
            )
        for path in self._agents(project / session / "subagents", ".jsonl"):
            meta = self._meta(path.with_suffix(".meta.json")) or _Meta()
            if meta.team not in ("", team) or (meta.depth is not None and not meta.team):
                continue  # another team's, or a subagent that is no teammate
            agent = path.stem.removeprefix("agent-")
            name = meta.name or meta.agent_type
            yield TeamFile(path, TranscriptOrigin(f"{shown}/subagents/{path.name}", session, agent, name, meta.team))

    def _folders(self) -> list[Path]:
        return [path for path in self._listed(self._folder) if path.is_dir()]

    def _listed(self, folder: Path) -> list[Path]:
        """Return what is in a folder, without links."""
        self.unread.pop(folder, None)
        try:
            with os.scandir(folder) as entries:
                return sorted(Path(entry.path) for entry in entries if not entry.is_symlink())
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.unread[folder] = reason_of(error)
        return []

    def _is_there(self, path: Path) -> bool:
        try:
            path.lstat()
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                self.unread[path.parent] = reason_of(error)
            return False
        return True

    def _is_one(self, path: Path) -> bool:
        return path.suffix == ".jsonl" or (not path.suffix and self._is_there(path / "subagents"))

    def _is_session(self, project: Path, session: str) -> bool:
        if not session or "/" in session or session.startswith("."):
            return False
        return self._is_there(project / f"{session}.jsonl") or self._is_there(project / session)

    def _transcripts(self, project: Path) -> list[Path]:
        return [path for path in self._listed(project) if path.suffix == ".jsonl"]

    def _agents(self, folder: Path, suffix: str = ".meta.json") -> list[Path]:
        return [path for path in self._listed(folder) if path.name.startswith("agent-") and path.name.endswith(suffix)]

    def _meta(self, path: Path) -> _Meta | None:
        if path not in self._metas:
            try:
                meta = META.decode(read_whole(path, HEAD))
                self._metas[path] = meta if not meta.team or team_name(meta.team) else _Meta(meta.agent_type, meta.name)
            except (OSError, *UNREADABLE):
                return None  # it may be half-written: it is asked for again
        return self._metas[path]

    def _names(self, path: Path, *, whole: bool) -> frozenset[str]:
        """Return the teams that a session's lines name, in its first lines or in all of them."""
        reached, known, named = self._named.get(path, (0, -1, frozenset()))
        try:
            size = path.lstat().st_size
            end = size if whole else min(HEAD, size)
            if size != known and reached < end:
                named |= _named_in(path, reached, end)
                self._named[path] = end if whole or end == HEAD else 0, size, named
        except OSError:
            pass
        return named


def _named_in(path: Path, start: int, end: int) -> frozenset[str]:
    """Return the teams that the program names at the top of lines between two offsets. Raises OSError."""
    names: set[str] = set()
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        held = b""
        at = start
        while at < end and (piece := os.pread(fd, min(BLOCK, end - at), at)):
            at += len(piece)
            block = held + piece
            whole = block.rfind(b"\n") + 1
            place = block.find(KEY)
            while 0 <= place < whole:
                first, stop = block.rfind(b"\n", 0, place) + 1, block.find(b"\n", place)
                match = NAMED.match(block, place)
                if match and match[1].decode() not in names:
                    names |= _top(block[first:stop])
                place = block.find(KEY, stop)
            held = block[whole:] if len(block) - whole <= BLOCK else b""
            if (data := next_data(fd, at)) > at:
                held, at = b"", data
    finally:
        os.close(fd)
    return frozenset(names)


def _top(line: bytes) -> set[str]:
    try:
        head = TOP.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return set()
    return {name} if (name := team_name(head.team)) else set()
