"""The store for what is queued for Codex's threads, and for what they and their subagents tell each other."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mailstore.errors import DraftRefused, StoreError
from mailstore.files.bounded_program import OutOfBounds
from mailstore.kinds.codex_threads.databases import Databases
from mailstore.kinds.codex_threads.facts import RolloutTurns, client_of
from mailstore.kinds.codex_threads.source import SESSIONS, ThreadsSource
from mailstore.kit.own_program import installed, run
from mailstore.kit.sessions.facts import SessionFact, SessionFile
from mailstore.kit.sessions.store import CANNOT, SessionsStore
from mailstore.kit.timestamps import isoformat
from mailstore.records.details import SessionTurn
from mailstore.records.draft import Draft
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
            from mailstore.kinds.codex_threads.store import why_not_sent

            self._why_not = why_not_sent()
        return self.declared.without(self._why_not, Capability.SEND) if self._why_not else self.declared

    def write_message(self, draft: Draft) -> Message:
        from mailstore.kinds.codex_threads.store import send

        return send(self.source, draft)

    def turns_of(self, file: SessionFile) -> Callable[[bytes], Iterator[SessionTurn]]:
        session = self.source.sessions.get(file.session)
        return RolloutTurns(is_subagent=session is not None and bool(session.other))


PROGRAM = "codex"
LONGEST = 100_000
"""Bytes of a text: it is an argument, and the system allows 128 KiB for one."""
QUEUED = re.compile(r"Queued message (\S+) for thread")
TAKEN_SECONDS = 3.0
"""How long a message is looked for in its thread's rollout, when it is no longer in the queue."""


def why_not_sent() -> str:
    """Return why nothing can be sent; empty if the program is installed."""
    return "" if installed(PROGRAM) else "messages are queued with codex, and it is not installed"


def send(source: ThreadsSource, draft: Draft) -> Message:
    """Queue a message for a thread; return it as the queue has it. Raises DraftRefused and StoreError."""
    [recipient] = draft.recipients
    thread = source.session_of(recipient)
    if not thread:
        raise DraftRefused("to", f"{recipient!r} is not a thread of Codex", "signalbox agents lists them", "E495")
    if "\0" in draft.content or len(draft.content.encode()) > LONGEST:
        raise DraftRefused(
            "text", "is too long for codex queue", f"shorten it to {LONGEST:,} bytes, without NUL", "E496"
        )
    now = time.time()
    item = _run(source.folder, thread, draft.content)
    client, at = _queued(source, thread, item, draft.content, now)
    fact = SessionFact("queued", "queue", 0, 0, thread, at, id=client, text=draft.content)
    message = source.message(client, draft.sender, recipient, fact)
    source.note_sent(message, fact)
    return message


def _queued(source: ThreadsSource, thread: str, item: str, text: str, since: float) -> tuple[str, str]:
    """Return the id that a message keeps when its thread takes it, and when it was queued. Raises StoreError."""
    end = time.monotonic() + TAKEN_SECONDS
    databases = Databases(source.folder)
    while True:
        databases.look()
        for row in databases.queue:
            if row.item == item:
                return row.id, row.time
        for file in [transcript for transcript in source.files() if transcript.file.session == thread]:
            if client := client_of(file.file.path, text, since):
                return client, isoformat(since)
        if time.monotonic() > end:
            raise StoreError(
                f"the message was queued as {item}, and is in no file yet", "look for it in a moment", "E498"
            )
        time.sleep(0.05)


def _run(folder: Path, thread: str, text: str) -> str:
    """Run the program; return the id of the row that it queued. Raises StoreError."""
    program = installed(PROGRAM)
    if not program:
        raise StoreError("codex is not installed", "install it to send", "E497")
    environment = {**os.environ, "CODEX_HOME": str(folder)}
    words = [program, "queue", f"--thread={thread}", f"--message={text}"]
    try:
        status, said, complaint = run(words, folder, environment)
    except OutOfBounds as error:
        raise StoreError(f"codex queue {error}", "look whether the message is there", "E499") from error
    except OSError as error:
        raise StoreError(f"{program} can't be run", f"{error.strerror}; nothing was sent", "E501") from error
    if status == 0 and (match := QUEUED.search(said)):
        return match[1]
    lines = [line.removeprefix("Error: ") for line in complaint.splitlines() if line.startswith("Error: ")]
    raise StoreError("codex refused the message", (lines or [f"it ended with status {status}"])[0][:300], "E494")
