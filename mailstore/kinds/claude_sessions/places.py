"""Find the folder of projects, and the transcripts in it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.folder import Stamp, stamp_of
from mailstore.kinds.claude_sessions.facts import ClaudeFile
from mailstore.kit.transcripts.source import FoundTranscript
from mailstore.records.message import Problem

PROJECTS = "projects"
LOOKED_AT = 64
SUFFIX = ".jsonl"
SETTLED = 1_000_000_000
"""Nanoseconds after which a folder's time of change shows every later change."""


def find(path: Path) -> Path | None:
    """Return the folder of projects at a path: that folder itself, or the one of the program that holds it."""
    path = path.absolute()
    for folder in (path, path / PROJECTS):
        if folder.name == PROJECTS and folder.is_dir() and (_is_own(folder) or any(map(_has_session, _inner(folder)))):
            return folder
    return None


def _inner(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in islice(entries, LOOKED_AT) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _is_own(folder: Path) -> bool:
    """Say whether a folder of projects is the program's by where it is, as one without any session yet."""
    return folder.parent.name.startswith(".claude")


def _has_session(project: Path) -> bool:
    try:
        with os.scandir(project) as entries:
            return any(entry.name.endswith(SUFFIX) for entry in islice(entries, LOOKED_AT))
    except OSError:
        return False


class SessionFiles:
    """The transcripts in a folder of projects, each time with their stamps; links are not followed."""

    def __init__(self, projects: Path) -> None:
        self._projects = projects
        self._below: dict[str, tuple[int, list[str]]] = {}
        """The subagents' transcripts in a folder, as long as its time of change stays the same."""
        self._files: dict[str, ClaudeFile] = {}
        """The transcripts that were ever there, by path."""
        self.problems: list[Problem] = []

    def look(self) -> list[FoundTranscript]:
        """Return all transcripts, the last changed first. Raises OSError if the folder can't be listed."""
        self.problems = []
        transcripts = [
            transcript for project in self._folders(self._projects) for transcript in self._of_project(project)
        ]
        transcripts.sort(key=lambda transcript: transcript.stamp.changed, reverse=True)
        return transcripts

    def _folders(self, folder: Path) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]

    def _of_project(self, project: os.DirEntry[str]) -> Iterator[FoundTranscript]:
        try:
            with os.scandir(project.path) as entries:
                inner = list(entries)
        except OSError as error:
            shown = shown_name(f"{PROJECTS}/{project.name}")
            self.problems.append(Problem(shown, 1, 0, f"its transcripts can't be read: {reason_of(error)}"))
            return
        for entry in inner:
            if entry.name.endswith(SUFFIX) and (stamp := _stamp(entry)) is not None:
                file = self._files.get(entry.path)
                if file is None:
                    name = shown_name(f"{PROJECTS}/{project.name}/{entry.name}")
                    session = shown_name(entry.name.removesuffix(SUFFIX))
                    file = self._files[entry.path] = ClaudeFile(entry.path, name, session)
                yield FoundTranscript(file, stamp)
            elif "." not in entry.name and entry.is_dir(follow_symlinks=False):
                yield from self._of_agents(project.name, entry)

    def _of_agents(self, project: str, session: os.DirEntry[str]) -> Iterator[FoundTranscript]:
        folder = f"{session.path}/subagents"
        try:
            changed = os.stat(folder, follow_symlinks=False).st_mtime_ns  # noqa: PTH116
            known = self._below.get(folder)
            if known is None or known[0] != changed:
                with os.scandir(folder) as entries:
                    names = [entry.name for entry in entries if entry.name.startswith("agent-")]
                known = changed, [name for name in names if name.endswith(SUFFIX)]
                if time.time_ns() - changed > SETTLED:
                    self._below[folder] = known
        except OSError:
            return
        for name in known[1]:
            path = Path(folder) / name
            try:
                stamp = stamp_of(path.lstat())
            except OSError:
                continue
            shown = shown_name(f"{PROJECTS}/{project}/{session.name}/subagents/{name}")
            agent = shown_name(name.removeprefix("agent-").removesuffix(SUFFIX))
            yield FoundTranscript(ClaudeFile(str(path), shown, shown_name(session.name), agent), stamp)


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    try:
        return stamp_of(entry.stat(follow_symlinks=False)) if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None
