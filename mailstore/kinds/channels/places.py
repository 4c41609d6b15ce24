"""Find a shared folder with channels; the names of its folders and files."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

CHANNELS = "channels"
HUMAN = "human"
"""What the system calls the user."""
ROSTER = ("registry/agents", "signals/presence", "presence", "sessions")
"""The folders with records of agents."""
NAME = re.compile(r"msg-(\d{8}-\d{6})-(.+)-[0-9a-fA-F]+\.json", re.ASCII | re.DOTALL)
WORD = re.compile(r"[\w-]+")
"""What an agent's name consists of in a text."""
ENTRIES_LOOKED_AT = 1000
"""Maximum number of entries examined to recognise a folder."""


def is_message(name: str) -> bool:
    """Return whether a file name is a message's; files still being written begin with a dot."""
    return name.startswith("msg-") and name.endswith(".json")


def sender_in(file: str) -> str:
    """Return the sender in a message's file name; names may contain hyphens."""
    match = NAME.fullmatch(file)
    return match[2] if match else ""


def time_in(file: str) -> float | None:
    """Return the time in a message's file name, in seconds since the epoch."""
    match = NAME.fullmatch(file)
    try:
        return datetime.strptime(match[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp() if match else None
    except ValueError:
        return None


def tag_of(channel: str) -> str:
    """Return the tag that is the address of a channel."""
    return f"project:{channel}"


def is_broadcast(address: str) -> bool:
    """Return whether an address means everybody in the channel."""
    return address in BROADCAST_NAMES or address.lower() == "all"


def opening(text: str) -> str:
    """Return the word that a text begins with, in lower case, if it could be an agent's name; empty if not."""
    match = WORD.match(text)
    return match[0].rstrip("-").lower() if match else ""


def person_or(name: str) -> str:
    """Return `user` for any name of the user, other names unchanged."""
    return "user" if name in USER_NAMES else name


def find(path: Path) -> Path | None:
    """Return the shared folder for a path: the folder itself, or the one above `channels`. Raises OSError."""
    path = path.absolute()
    if _is_folder(path / CHANNELS) and not (path.name == CHANNELS and _holds_messages(path / CHANNELS)):
        return path
    if path.name == CHANNELS and path.is_dir() and not path.is_symlink():
        return path.parent
    return None


def looks_like_mail(root: Path) -> bool:
    """Return whether a shared folder contains a message, or has the folders for agents. Raises OSError."""
    if any(_holds_messages(root / CHANNELS / name) for name in _names(root / CHANNELS)):
        return True
    return any((root / folder).is_dir() for folder in ROSTER if "/" in folder)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _holds_messages(folder: Path) -> bool:
    return _is_folder(folder) and any(NAME.fullmatch(name) for name in _names(folder))


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, ENTRIES_LOOKED_AT)]
