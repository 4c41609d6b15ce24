"""The store for the sessions of Gemini CLI and Qwen Code, and for what Gemini told its subagents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from mailstore.encoding import shown_name
from mailstore.files.folder import stamp_of
from mailstore.kinds.gemini_sessions.chats import USED, ChatTranscript, turns_in, used_in
from mailstore.kit.sessions.facts import SessionFile
from mailstore.kit.sessions.source import SessionsSource
from mailstore.kit.sessions.store import SessionsStore
from mailstore.kit.sessions.usage import UsageLog
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
        transcripts = [transcript for place in PLACES for transcript in self._of_place(self.folder / place)]
        transcripts.sort(key=lambda transcript: transcript.stamp.changed, reverse=True)
        return transcripts

    def usage_log(self) -> UsageLog:
        return UsageLog(USED, used_in)

    def key_of(self, session: str) -> str:
        return session[:BEGINNING] if self.folder.name == HOMES[0] else session

    def _of_place(self, place: Path) -> Iterator[FoundTranscript]:
        for project in _inner(place):
            for entry in _inner(Path(project) / CHATS):
                if entry.endswith(SUFFIX):
                    yield from self._found(entry, "")
                else:
                    for chat in _inner(Path(entry)):
                        if chat.endswith(SUFFIX):
                            yield from self._found(chat, os.path.basename(entry))  # noqa: PTH119

    def _found(self, place: str, parent: str) -> Iterator[FoundTranscript]:
        with suppress(OSError):
            stats = os.stat(place, follow_symlinks=False)  # noqa: PTH116
            name = shown_name(os.path.relpath(place, self.folder))
            session = os.path.basename(place).removesuffix(SUFFIX)  # noqa: PTH119
            if session.startswith(MAIN):
                session = session.rpartition("-")[2]
            yield FoundTranscript(SessionFile(place, name, session, parent[:BEGINNING]), stamp_of(stats))


def _inner(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


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
    return any((Path(project) / CHATS).is_dir() for project in _inner(place))
