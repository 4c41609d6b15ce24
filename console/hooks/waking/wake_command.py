"""Run the command that wakes an agent: its environment names what came, but never quotes it."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mailstore.records.message import Message

Outcome = tuple[int, float]
"""A command's exit status (127 where it could not be started), and how many seconds it took."""

NOT_STARTED = 127
MOST_IDS, MOST_BYTES = 100, 32_000
"""How much of the ids the environment holds, which has no room for thousands."""
ENVIRONMENT = {
    "SIGNALBOX_AGENT": "session id of the agent",
    "SIGNALBOX_STORE": "the mailbox",
    "SIGNALBOX_COUNT": "number of messages that wake it",
    "SIGNALBOX_TYPES": "their types, as a JSON list",
    "SIGNALBOX_IDS": f"ids of at most the {MOST_IDS} oldest, as a JSON list",
    "SIGNALBOX_IDS_FILE": "file with all ids, as a JSON list; removed afterwards",
}
"""What a command that wakes finds in its environment."""


async def wake(
    command: Sequence[str], store_url: str, session_id: str, mail: Sequence[Message], *, is_quiet: bool = False
) -> Outcome:
    """Run a command to its end: its environment names what came, with no text of it; it has no input.

    It keeps its own output, where that is not to be quiet.
    """
    start = time.monotonic()
    ids = [message.id for message in mail]
    file: Path | None = None
    try:
        file = await asyncio.to_thread(_written, ids)
        env = {
            **os.environ,
            "SIGNALBOX_STORE": store_url,
            "SIGNALBOX_AGENT": session_id,
            "SIGNALBOX_IDS": json.dumps(_first(ids)),
            "SIGNALBOX_IDS_FILE": str(file),
            "SIGNALBOX_COUNT": str(len(ids)),
            "SIGNALBOX_TYPES": json.dumps(sorted({message.type for message in mail})),
        }
        return await _run(command, env, is_quiet=is_quiet), time.monotonic() - start
    except (OSError, ValueError):  # an environment variable can't hold a zero byte
        return NOT_STARTED, time.monotonic() - start
    finally:
        if file is not None:
            await asyncio.to_thread(file.unlink, missing_ok=True)


def _first(ids: Sequence[str]) -> list[str]:
    result: list[str] = []
    room = MOST_BYTES
    for message_id in ids[:MOST_IDS]:
        room -= len(json.dumps(message_id)) + 2
        if room < 0:
            break
        result.append(message_id)
    return result


def _written(ids: Sequence[str]) -> Path:
    """Write ids to a file that its owner alone can read; raises OSError."""
    with tempfile.NamedTemporaryFile("w", prefix="signalbox-wake-", suffix=".json", delete=False) as file:
        try:
            json.dump(ids, file)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return Path(file.name)


async def _run(command: Sequence[str], env: dict[str, str], *, is_quiet: bool) -> int:
    output = asyncio.subprocess.DEVNULL if is_quiet else None
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, env=env, stdin=nothing, stdout=output, stderr=output)
    try:
        return await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
