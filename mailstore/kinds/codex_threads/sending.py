"""Send with `codex queue`, as only the program itself writes its queue (docs/formats/codex-threads.md)."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from mailstore.errors import DraftRefused, StoreError
from mailstore.files.bounded_program import OutOfBounds
from mailstore.kinds.codex_threads.databases import Databases
from mailstore.kinds.codex_threads.facts import client_of
from mailstore.kinds.codex_threads.source import ThreadsSource
from mailstore.kit.own_program import installed, run
from mailstore.kit.sessions.facts import SessionFact
from mailstore.kit.timestamps import isoformat
from mailstore.records.draft import Draft
from mailstore.records.message import Message

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
    # before it is in the queue, which doesn't say who wrote it
    source.history.note(
        SessionFact("sending", "queue", 0, 0, thread, isoformat(now), name=draft.sender, text=draft.content)
    )
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
