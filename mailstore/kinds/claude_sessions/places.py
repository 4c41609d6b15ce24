"""Find the folder of projects, and the transcripts in it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mailstore.encoding import shown_name
from mailstore.kinds.claude_sessions.facts import ClaudeFile
from mailstore.kit.team_folders.files import LOOKED_AT, folders_in
from mailstore.kit.transcripts.source import FileFinder, FoundTranscript
from mailstore.records.message import Problem

PROJECTS = "projects"
SUFFIX = ".jsonl"
SETTLED = 1_000_000_000
"""Nanoseconds after which a folder's time of change shows every later change."""


def find(path: Path) -> Path | None:
    """Return the folder of projects at a path: that folder itself, or the one of the program that holds it."""
    path = path.absolute()
    for folder in (path, path / PROJECTS):
        if (
            folder.name == PROJECTS
            and folder.is_dir()
            and (_is_own(folder) or any(map(_has_session, folders_in(folder))))
        ):
            return folder
    return None


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
        self._finder = FileFinder(projects.parent)
        self._below: dict[str, tuple[int, list[str]]] = {}
        """The subagents' transcripts in a folder, as long as its time of change stays the same."""
        self._files: dict[str, ClaudeFile] = {}
        """The transcripts that were ever there, by path."""

    @property
    def problems(self) -> list[Problem]:
        return self._finder.problems

    def look(self) -> list[FoundTranscript]:
        """Return all transcripts, the last changed first. Raises OSError if the folder can't be listed."""
        with os.scandir(self._projects) as entries:
            projects = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        return self._finder.newest_first(transcript for project in projects for transcript in self._of_project(project))

    def _of_project(self, project: os.DirEntry[str]) -> Iterator[FoundTranscript]:
        for entry in self._finder.entries(project.path):
            if entry.name.endswith(SUFFIX) and entry.is_file():
                if (stamp := self._finder.stamp(entry.path)) is not None:
                    file = self._files.get(entry.path)
                    if file is None:
                        name = shown_name(f"{PROJECTS}/{project.name}/{entry.name}")
                        session = shown_name(entry.name.removesuffix(SUFFIX))
                        file = self._files[entry.path] = ClaudeFile(entry.path, name, session)
                    yield FoundTranscript(file, stamp)
            elif "." not in entry.name and entry.is_dir():
                yield from self._of_agents(project.name, entry)

    def _of_agents(self, project: str, session: os.DirEntry[str]) -> Iterator[FoundTranscript]:
        folder = f"{session.path}/subagents"
        if (stamp := self._finder.stamp(folder)) is None:
            return
        known = self._below.get(folder)
        if known is None or known[0] != stamp.changed:
            problems = len(self._finder.problems)
            names = [entry.name for entry in self._finder.entries(folder) if entry.name.startswith("agent-")]
            known = stamp.changed, [name for name in names if name.endswith(SUFFIX)]
            if len(self._finder.problems) == problems and time.time_ns() - stamp.changed > SETTLED:
                self._below[folder] = known
        for name in known[1]:
            path = f"{folder}/{name}"
            if (stamp := self._finder.stamp(path)) is not None:
                shown = shown_name(f"{PROJECTS}/{project}/{session.name}/subagents/{name}")
                agent = shown_name(name.removeprefix("agent-").removesuffix(SUFFIX))
                yield FoundTranscript(ClaudeFile(path, shown, shown_name(session.name), agent), stamp)
