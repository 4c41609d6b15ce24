"""The store for what is queued for Codex's threads, and for what they and their subagents tell each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec

from mailstore.errors import ContentGone, reason_of
from mailstore.files.whole import NotAFile, open_binary
from mailstore.kinds.codex_threads.source import SESSIONS, ThreadMessage, ThreadsSource
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability, WatchedPaths

if TYPE_CHECKING:
    from mailstore.records.details import AgentFact

ONLY_ITSELF = "only the program itself writes there"
ONLY_TEXT = "its messages have a text only"


class CodexStore(WatchedStore):
    """Messages to threads of Codex: what is in the queue, and what their rollouts say that was taken from it."""

    kind: ClassVar[str] = "codex-threads"
    summary: ClassVar[str] = "Codex threads: what is queued for them, and their subagents' messages; read-only"
    missing: ClassVar[tuple[str, str]] = ("there are no Codex sessions at {path}", "name Codex's folder, ~/.codex")
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.SEND: "run codex queue --thread ID --message TEXT",
            Capability.SEVERAL: "a message is queued for one thread",
            Capability.MARK_READ: ONLY_ITSELF,
            Capability.UPDATE_ROSTER: "threads start and end by themselves",
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
    )

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        self._source = ThreadsSource(folder)
        super().__init__(RecordReader(self._source), folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        """Return the program's folder at a path: that folder itself, or that of its sessions."""
        path = path.absolute()
        for folder in (path, path.parent if path.name == SESSIONS else path / ".codex"):
            if (folder / SESSIONS).is_dir() and (folder.name == ".codex" or any(folder.glob("state_*.sqlite"))):
                return folder
        return None

    @property
    def title(self) -> str:
        return self.folder.name

    def watched(self) -> WatchedPaths:
        """Return nothing: a line in any of many rollouts may be mail."""
        return WatchedPaths()

    def below(self) -> Sequence[str]:
        return [str(folder) for folder in self._source.folders()]

    def content(self, message: Message) -> str:
        """Return a message's body. Raises ContentGone."""
        return self._letter(message).text

    def raw(self, message: Message) -> bytes:
        """Return the line of the rollout that holds a message, or what was kept of it. Raises ContentGone."""
        line = self._letter(message).line
        path = self.folder / line.file
        if line.length and path.is_file():
            try:
                with open_binary(path) as rollout:
                    rollout.seek(line.offset)
                    data = rollout.read(line.length)
            except (OSError, NotAFile) as error:
                raise ContentGone(f"the rollout {line.file} can't be read", reason_of(error)) from error
            if line.time.encode() in data:
                return data
        return msgspec.json.encode(line)

    def describe_agent(self, name: str) -> Sequence[AgentFact]:
        return self._source.describe(name)

    def _letter(self, message: Message) -> ThreadMessage:
        letter = self._source.letter(message.id)
        if letter is None:
            raise ContentGone(f"message {message.id} is in no rollout", "was it deleted?")
        return letter
