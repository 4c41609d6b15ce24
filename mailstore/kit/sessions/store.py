"""The store for sessions of a program: read-only, as only the program itself writes there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from mailstore.errors import ContentGone, reason_of
from mailstore.files.whole import NotAFile, open_binary
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.sessions.facts import SessionFact, SessionFile
from mailstore.kit.sessions.source import SessionMessage, SessionsSource
from mailstore.kit.transcripts.turns import turns_around
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.details import AgentUsage, SessionTurn, TranscriptPlace
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.details import AgentFact

DID = {"told": "wrote", "refused": "wrote", "given": "read", "answered": "was answered", "took": "read"}
ONLY_ITSELF = "only the program itself writes there"
ONLY_TEXT = "its messages have a text only"
CANNOT: dict[Capability, str] = {
    Capability.SEND: ONLY_ITSELF,
    Capability.SEVERAL: "each message has one recipient",
    Capability.MARK_READ: ONLY_ITSELF,
    Capability.UPDATE_ROSTER: "sessions start and end by themselves",
    Capability.RECORD: "it has no journal",
    Capability.ARCHIVE: ONLY_ITSELF,
    Capability.ADOPT: ONLY_ITSELF,
    Capability.REPLY: "its messages don't refer to other messages",
    Capability.SUBJECT: ONLY_TEXT,
    Capability.TYPE: ONLY_TEXT,
    Capability.TTL: "its messages do not expire",
    Capability.METADATA: ONLY_TEXT,
    Capability.AUDIENCE: "each message has one recipient",
}


class SessionsStore(WatchedStore):
    """What the sessions of a program tell each other, as their files prove it."""

    declared: ClassVar[Capabilities] = Capabilities(CANNOT)

    def __init__(self, source: SessionsSource, folder: Path, *, poll: bool = False) -> None:
        self.source = source
        super().__init__(RecordReader(source), folder, poll=poll)

    @property
    def title(self) -> str:
        return self.folder.name

    def watched(self) -> WatchedPaths:
        """Return nothing: a line in any of many transcripts may be mail."""
        return WatchedPaths()

    def below(self) -> Sequence[str]:
        return [str(folder) for folder in self.source.folders()]

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        return self._found(message).text

    def raw(self, message: Message) -> bytes:
        """Return the line of the transcript that holds a message, or what was kept of it. Raises ContentGone."""
        line = self._found(message).lines[0]
        if line.length and (file := self.source.file_named(line.file)) is not None:
            try:
                with open_binary(file.path) as transcript:
                    transcript.seek(line.offset)
                    data = transcript.read(line.length)
            except (OSError, NotAFile) as error:
                raise ContentGone(f"the transcript {line.file} can't be read", reason_of(error), "E476") from error
            if line.time.encode() in data:
                return data
        return msgspec.json.encode(line)

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        return self.source.describe(name)

    def usage(self) -> Mapping[str, AgentUsage]:
        return self.source.usage()

    def session_usage(self, sessions: Collection[str]) -> Mapping[str, AgentUsage]:
        return self.source.session_usage(sessions)

    def transcripts(self, message: Message) -> Sequence[TranscriptPlace]:
        return [self._place(line) for line in self._found(message).lines if self.has_transcript(line)]

    def _place(self, line: SessionFact) -> TranscriptPlace:
        session = self.source.sessions.get(line.session)
        return TranscriptPlace(
            self.source.label(line.session),
            DID.get(line.kind, "was given it"),
            line.file,
            line.offset,
            self.source.command(line.session),
            session.folder if session is not None else "",
        )

    def has_transcript(self, line: SessionFact) -> bool:
        """Say whether the transcript that a line is from is still there."""
        return bool(line.length) and self.source.file_named(line.file) is not None

    def turns(self, place: TranscriptPlace) -> Sequence[SessionTurn]:
        file = self.source.file_named(place.file)
        if file is None:
            raise ContentGone(
                f"the transcript {place.file} is gone", "what was kept of it is in the message's record", "E474"
            )
        try:
            return turns_around(file.path, place.offset, self.turns_of(file))
        except (OSError, NotAFile) as error:
            raise ContentGone(f"the transcript {place.file} can't be read", reason_of(error), "E476") from error

    def turns_of(self, file: SessionFile) -> Callable[[bytes], Iterator[SessionTurn]]:
        """Return what yields what a line of a transcript says, if somebody says something in it."""
        return lambda line: iter(())

    def _found(self, message: Message) -> SessionMessage:
        session_message = self.source.known(message.id)
        if session_message is None:
            raise ContentGone(f"message {message.id} is in no transcript any more", "was it deleted?", "E473")
        return session_message
