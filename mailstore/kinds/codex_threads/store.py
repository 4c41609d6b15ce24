"""The store for what is queued for Codex's threads, and for what they and their subagents tell each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.kinds.codex_threads.facts import RolloutTurns
from mailstore.kinds.codex_threads.source import SESSIONS, ThreadsSource
from mailstore.kit.sessions.facts import SessionFile
from mailstore.kit.sessions.store import CANNOT, SessionsStore
from mailstore.records.details import SessionTurn
from mailstore.records.message import Message
from mailstore.store import Capabilities, Capability

if TYPE_CHECKING:
    from mailstore.records.draft import Draft


class CodexStore(SessionsStore):
    """Messages to threads of Codex: what is in the queue, and what their rollouts say that was taken from it."""

    kind: ClassVar[str] = "codex-threads"
    summary: ClassVar[str] = (
        "Codex threads: what is queued for them, and their subagents' messages; sends with codex queue"
    )
    missing: ClassVar[tuple[str, str]] = ("there are no Codex sessions at {path}", "name Codex's folder, ~/.codex")
    declared: ClassVar[Capabilities] = Capabilities(
        {name: reason for name, reason in CANNOT.items() if name is not Capability.SEND}
    )
    source: ThreadsSource

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        super().__init__(ThreadsSource(folder), folder, poll=poll)
        self._why_not: str | None = None

    @classmethod
    def find(cls, path: Path) -> Path | None:
        """Return the program's folder at a path: that folder itself, or that of its sessions."""
        path = path.absolute()
        for folder in (path, path.parent if path.name == SESSIONS else path / ".codex"):
            if (folder / SESSIONS).is_dir() and (folder.name == ".codex" or any(folder.glob("state_*.sqlite"))):
                return folder
        return None

    @property
    def capabilities(self) -> Capabilities:
        """Return what can be done here: only the program itself writes."""
        if self._why_not is None:
            from mailstore.kinds.codex_threads.sending import why_not_sent

            self._why_not = why_not_sent()
        return self.declared.without(self._why_not, Capability.SEND) if self._why_not else self.declared

    def write_message(self, draft: Draft) -> Message:
        from mailstore.kinds.codex_threads.sending import send

        return send(self.source, draft)

    def turns_of(self, file: SessionFile) -> Callable[[bytes], Iterator[SessionTurn]]:
        session = self.source.sessions.get(file.session)
        return RolloutTurns(is_subagent=session is not None and bool(session.other))
