"""The store for the mail between Claude Code's sessions: read-only, as there is no place to write to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from mailstore.errors import ContentGone, reason_of
from mailstore.files.whole import NotAFile, open_binary
from mailstore.kinds.claude_sessions.places import PROJECTS, find
from mailstore.kinds.claude_sessions.source import ClaudeSource
from mailstore.kinds.claude_sessions.tracing import TracedMessage, ways
from mailstore.kinds.claude_sessions.turns import turns_in
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.transcripts.turns import turns_around
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.details import SessionTurn, TranscriptPlace
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.details import AgentFact, AgentUsage, MessageWay

DID = {"call": "sent", "read": "read", "held": "held"}
ONLY_ITSELF = "only the program itself writes there"


class ClaudeSessionsStore(WatchedStore):
    """The messages that Claude Code's sessions send each other, joined from the transcripts of both ends.

    There is no inbox on disk: what a transcript proves is shown, and kept in a journal of our own, because the program
    deletes old transcripts.
    """

    kind: ClassVar[str] = "claude-sessions"
    summary: ClassVar[str] = (
        "mail between Claude Code sessions, from their transcripts in ~/.claude/projects; read-only"
    )
    missing: ClassVar[tuple[str, str]] = (
        "there are no Claude Code sessions at {path}",
        "name the folder of projects, ~/.claude/projects",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.SEND: "its messages go from process to process: write to the agent's own mailbox instead",
            Capability.SEVERAL: "each message has one recipient",
            Capability.MARK_READ: ONLY_ITSELF,
            Capability.UPDATE_ROSTER: "sessions start and end by themselves",
            Capability.RECORD: "it has no journal",
            Capability.ARCHIVE: "the program deletes old transcripts itself",
            Capability.ADOPT: ONLY_ITSELF,
            Capability.REPLY: "its messages don't refer to other messages",
            Capability.SUBJECT: ONLY_ITSELF,
            Capability.TYPE: "its messages have a text and a summary only",
            Capability.TTL: "its messages do not expire by themselves",
            Capability.METADATA: "its messages have a text and a summary only",
            Capability.AUDIENCE: "each message has one recipient",
        }
    )

    def __init__(self, projects: Path, *, poll: bool = False) -> None:
        self._source = ClaudeSource(projects)
        super().__init__(RecordReader(self._source), projects, poll=poll)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        return find(path)

    @classmethod
    def recognise(cls, path: Path) -> bool:
        """Say whether a path is a folder of projects; the program's own folder may have another mailbox, too."""
        return path.name == PROJECTS and super().recognise(path)

    @classmethod
    def roots(cls, path: Path) -> dict[str, Path]:
        return {PROJECTS: path / PROJECTS} if cls.recognise(path / PROJECTS) else {}

    @property
    def title(self) -> str:
        """Return the names of the folder of projects and the one above."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    def watched(self) -> WatchedPaths:
        """Return nothing: a line in any of many transcripts may be mail."""
        return WatchedPaths()

    def below(self) -> Sequence[str]:
        return [str(folder) for folder in self._source.folders()]

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        text = self._found(message).text
        if text is None:
            raise ContentGone(
                f"the text of message {message.id} is in no transcript", "its sender's may be deleted", "E472"
            )
        return text

    def raw(self, message: Message) -> bytes:
        """Return the line of the transcript that holds a message, or what was kept of it. Raises ContentGone."""
        line = self._found(message).line
        if (file := self._source.file_named(line.session, line.file)) is not None:
            try:
                with open_binary(file.path) as transcript:
                    transcript.seek(line.offset)
                    data = transcript.read(line.length)
            except (OSError, NotAFile) as error:
                raise ContentGone(f"the transcript {line.file} can't be read", reason_of(error), "E476") from error
            if line.uuid.encode() in data:
                return data
        return msgspec.json.encode(line)

    def ways(self, message: Message, places: Sequence[str] = ()) -> Sequence[MessageWay]:
        return ways(self._found(message))

    def transcripts(self, message: Message) -> Sequence[TranscriptPlace]:
        lines = self._found(message).lines
        return [
            TranscriptPlace(
                self._source.label(line.session),
                DID.get(line.kind, "was told of"),
                line.file,
                line.offset,
                ("claude", "--resume", line.session),
                self._source.folder_of(line.session),
            )
            for line in lines
            if self._source.file_named(line.session, line.file) is not None
        ]

    def turns(self, place: TranscriptPlace) -> Sequence[SessionTurn]:
        session = place.resume[-1] if place.resume else ""
        file = self._source.file_named(session, place.file)
        if file is None:
            raise ContentGone(
                f"the transcript {place.file} is gone", "what was kept of it is in the message's record", "E474"
            )
        try:
            return turns_around(file.path, place.offset, turns_in)
        except (OSError, NotAFile) as error:
            raise ContentGone(f"the transcript {place.file} can't be read", reason_of(error), "E476") from error

    def usage(self) -> Mapping[str, AgentUsage]:
        return self._source.usage()

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        return self._source.session_usage(sessions)

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        return self._source.describe(name)

    def _found(self, message: Message) -> TracedMessage:
        traced = self._source.traced(message.id)
        if traced is None:
            raise ContentGone(f"message {message.id} is in no transcript any more", "was it deleted?", "E473")
        return traced
