"""What has woken whom, so that agents can't keep waking each other and no message wakes twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from console.hooks.sessions.session_state import locked_file
from mailstore.files.whole import open_regular

PAIR_SECONDS = 60.0
"""How long an agent doesn't wake the same other one again."""
MOST_MESSAGES = 200
LONGEST_FILE = 1 << 20


def wakes_file(folder: str) -> str:
    """Return the file in a folder of hooks' state that holds what has woken whom."""
    return f"{folder}/wakes.json"


def may_wake(folder: str, sender: str, session_id: str, messages: Sequence[str], now: float) -> bool:
    """Say whether a sender may wake a session for some messages, and note that it does.

    Not for messages that woke it before, and not twice within a minute; an empty `sender` is the user, who is not
    limited so. Raises OSError, also where the file is held for too long.
    """
    with _held(folder) as wakes:
        pair, woken = f"{sender} {session_id}", wakes["letters"].get(session_id, [])
        wakes["pairs"] = {name: at for name, at in wakes["pairs"].items() if 0 <= now - at < PAIR_SECONDS}
        fresh = [message for message in messages if message not in woken]
        if not fresh or (sender and pair in wakes["pairs"]):
            return False
        if sender:
            wakes["pairs"][pair] = now
        wakes["letters"][session_id] = [*woken, *fresh][-MOST_MESSAGES:]
        return True


def release(folder: str, sender: str, session_id: str, messages: Sequence[str]) -> None:
    """Forget a wake that failed; raises OSError."""
    with _held(folder) as wakes:
        wakes["pairs"].pop(f"{sender} {session_id}", None)
        wakes["letters"][session_id] = [
            woken for woken in wakes["letters"].get(session_id, []) if woken not in messages
        ]


@contextmanager
def _held(folder: str) -> Iterator[dict[str, dict[str, Any]]]:
    """Lock the file, read it, and replace it by what was changed in it."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    path = wakes_file(folder)
    fd = locked_file(path)
    try:
        wakes = _read(os.read(fd, LONGEST_FILE))
        yield wakes
        sessions = {name.partition("-")[2] for name in os.listdir(folder)}  # noqa: PTH208
        wakes["letters"] = {name: ids for name, ids in wakes["letters"].items() if ids and _is_known(name, sessions)}
        new = f"{path}.new"
        with open(new, "w", encoding="utf-8", opener=_private) as file:
            json.dump(wakes, file)
        os.rename(new, path)  # noqa: PTH104
    finally:
        os.close(fd)


def _is_known(session_id: str, endings: set[str]) -> bool:
    """Say whether a folder has a state file of a session: its name ends with the id, after the program's name."""
    return any(ending == session_id or ending.endswith(f"-{session_id}") for ending in endings)


def _private(path: str, flags: int) -> int:
    return open_regular(path, flags | os.O_NOFOLLOW)


def _read(data: bytes) -> dict[str, dict[str, Any]]:
    """Return what the file holds; what is damaged in it counts as missing."""
    wakes: dict[str, dict[str, Any]] = {"pairs": {}, "letters": {}}
    try:
        given = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return wakes
    pairs, messages = (given.get(name) if isinstance(given, dict) else None for name in ("pairs", "letters"))
    if isinstance(pairs, dict):
        wakes["pairs"] = {name: at for name, at in pairs.items() if isinstance(at, int | float)}
    if isinstance(messages, dict):
        wakes["letters"] = {
            name: ids
            for name, ids in messages.items()
            if isinstance(ids, list) and all(isinstance(x, str) for x in ids)
        }
    return wakes
