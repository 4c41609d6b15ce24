"""Running the command that wakes an agent: told by its environment what came, never by its words."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mailstore.message import Message

__all__ = ["Outcome", "environment", "log_line", "run"]

Outcome = tuple[int, float]
"""A command's exit status (127 where it could not be started), and how many seconds it took."""

NOT_STARTED = 127


def environment(store_url: str, session_id: str, mail: Sequence[Message]) -> dict[str, str]:
    """Return the environment of a wake: the mailbox, the agent, and the ids and types of its mail; no text of it."""
    return {
        **os.environ,
        "SIGNALBOX_STORE": store_url,
        "SIGNALBOX_AGENT": session_id,
        "SIGNALBOX_IDS": json.dumps([message.id for message in mail]),
        "SIGNALBOX_COUNT": str(len(mail)),
        "SIGNALBOX_TYPES": json.dumps(sorted({message.type for message in mail})),
    }


async def run(command: Sequence[str], env: dict[str, str], *, is_quiet: bool = False) -> Outcome:
    """Run a command to its end; it gets no input and keeps its own output, where that is not to be quiet."""
    start = time.monotonic()
    output = asyncio.subprocess.DEVNULL if is_quiet else None
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, env=env, stdin=nothing, stdout=output, stderr=output)
    except OSError:
        return NOT_STARTED, time.monotonic() - start
    try:
        status = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    return status, time.monotonic() - start


def log_line(path: Path, record: dict[str, Any]) -> None:
    """Append a record to the log of wakes; blocks, raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
