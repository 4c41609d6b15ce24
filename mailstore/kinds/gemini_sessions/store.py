"""The store for the sessions of Gemini CLI and Qwen Code, and for what Gemini told its subagents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from mailstore.encoding import shown_name
from mailstore.kinds.gemini_sessions.chats import USED, ChatTranscript, turns_in, used_in
from mailstore.kit.locating import any_of
from mailstore.kit.sessions.facts import SessionFile
from mailstore.kit.sessions.source import SessionsSource
from mailstore.kit.sessions.store import SessionsStore
from mailstore.kit.sessions.usage import UsageLog
from mailstore.kit.team_folders.files import folders_in
from mailstore.kit.transcripts.source import FoundTranscript
from mailstore.records.details import SessionTurn, Speaker

CHATS, SUFFIX = "chats", ".jsonl"
PLACES = ("tmp", "projects")
"""Where Gemini and Qwen have a folder for each project."""
HOMES = (".gemini", ".qwen")
MAIN, BEGINNING = "session-", 8
"""Gemini names a chat by so many characters of its session's id, and a folder of subagents' chats by all of it."""


class ChatsSource(SessionsSource):
    """The chats in the folders of projects: of a Gemini subagent below the session that started it."""

    kind = "gemini-sessions"
    reader = ChatTranscript

    def files(self) -> list[FoundTranscript]:
        return self.finder.newest_first(
            transcript for place in PLACES for transcript in self._of_place(self.folder / place)
        )

    def usage_log(self) -> UsageLog:
        return UsageLog(USED, used_in)

    def key_of(self, session: str) -> str:
        return session[:BEGINNING] if self.folder.name == HOMES[0] else session

    def _of_place(self, place: Path) -> Iterator[FoundTranscript]:
        for project in self.finder.entries(place):
            for entry in self.finder.entries(f"{project.path}/{CHATS}"):
                if entry.name.endswith(SUFFIX):
                    yield from self._found(entry, "")
                else:
                    for chat in self.finder.entries(entry.path):
                        if chat.name.endswith(SUFFIX):
                            yield from self._found(chat, entry.name)

    def _found(self, entry: os.DirEntry[str], parent: str) -> Iterator[FoundTranscript]:
        if (stamp := self.finder.stamp(entry.path)) is not None:
            name = shown_name(os.path.relpath(entry.path, self.folder))
            session = entry.name.removesuffix(SUFFIX)
            if session.startswith(MAIN):
                session = session.rpartition("-")[2]
            yield FoundTranscript(SessionFile(entry.path, name, session, parent[:BEGINNING]), stamp)


class GeminiStore(SessionsStore):
    """Sessions of Gemini CLI or Qwen Code as agents; of Gemini's also what they and their subagents told each other."""

    kind: ClassVar[str] = "gemini-sessions"
    summary: ClassVar[str] = "Gemini CLI and Qwen Code sessions: agents, and what Gemini tells its subagents; read-only"
    missing: ClassVar[tuple[str, str]] = (
        "there are no Gemini or Qwen sessions at {path}",
        "name the program's folder, ~/.gemini or ~/.qwen",
    )

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        super().__init__(ChatsSource(folder), folder, poll=poll)

    def turns_of(self, file: SessionFile) -> Callable[[bytes], Iterator[SessionTurn]]:
        if not file.parent:
            return turns_in
        told = {Speaker.USER: Speaker.SESSION}
        return lambda line: (replace(turn, speaker=told.get(turn.speaker, turn.speaker)) for turn in turns_in(line))

    @classmethod
    def find(cls, path: Path) -> Path | None:
        """Return the program's folder at a path, which has chats in the folders of its projects."""
        path = path.absolute()
        for folder in (path, *(path / name for name in HOMES)):
            if folder.name in HOMES and any(_has_chats(folder / place) for place in PLACES):
                return folder
        return None


def _has_chats(place: Path) -> bool:
    return any_of(folders_in(place), lambda project: (project / CHATS).is_dir())
