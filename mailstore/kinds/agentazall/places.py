"""Find AgentAZAll mailboxes, and our own files for them (docs/formats/agentazall.md#files)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

from mailstore.files.durable import Pending
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kit.locating import any_of
from mailstore.records.scope import LABEL

DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
INBOX, OUTBOX, SENT = "inbox", "outbox", "sent"
BOXES = (SENT, OUTBOX, INBOX)
"""The folders of a day with messages, the sender's copies first."""
CONFIG_BYTES = 1 << 20
KEYS = (".agent_key", ".identity_key")
LOOKED_AT = 200
"""Maximum number of entries examined to recognise a folder."""
MOST_ROOTS = 50
MAILBOXES = "mailboxes"
TRANSPORTS = ("relay", "email", "ftp")
"""The folders that hold the trees of a transport each, which are one mailbox together."""


def find(path: Path) -> Path | None:
    """Return the folder of mailboxes for a path: itself, a folder above it, a config.json, or one agent's folder.

    Raises OSError.
    """
    path = path.absolute()
    if not path.is_dir():
        config = config_at(path) if path.suffix == ".json" else None
        folder = mailbox_dir(config, path) if config is not None else None
        return folder if folder is not None and folder.is_dir() else None
    if looks_like(path):
        return path
    for place in (path / MAILBOXES, path / "data" / MAILBOXES):
        if place.is_dir() and (looks_like(place) or place.parent.name == "data"):
            return place
    if is_agent_folder(path) and looks_like(path.parent):
        return path.parent
    if transport_trees(path):
        return path
    is_bare = path.name == MAILBOXES and path.parent.name == "data"
    return path if is_bare and not any(path.iterdir()) else None


def looks_like(folder: Path) -> bool:
    """Return whether any of a folder's first entries is an agent's folder. Raises OSError if that is uncertain."""
    return any_of(islice(_folders(folder), LOOKED_AT), is_agent_folder)


def is_mailbox(folder: Path) -> bool:
    """Return whether a folder holds agents' folders, or a tree of them for each transport. Raises OSError."""
    return looks_like(folder) or bool(transport_trees(folder))


def trees_of(root: Path) -> list[str]:
    """Return the folders with agents' folders of a mailbox, from its root: one that is empty, or those of transports.

    Raises OSError.
    """
    return [""] if looks_like(root) else transport_trees(root) or [""]


def transport_trees(path: Path) -> list[str]:
    """Return the trees in a folder that holds one or more for each of several transports; none for any other.

    Raises OSError.
    """
    found: dict[str, list[str]] = {}
    for name in TRANSPORTS:
        folder = path / name
        if folder.is_dir() and not folder.is_symlink():
            roots = [folder] if looks_like(folder) else [root for root in _roots_in(folder) if looks_like(root)]
            found[name] = [root.relative_to(path).as_posix() for root in roots if root.is_relative_to(path)]
    return [tree for trees in found.values() for tree in trees] if sum(map(bool, found.values())) > 1 else []


def _roots_in(folder: Path) -> list[Path]:
    """Return the folder of mailboxes in a folder, or those in the folders in it."""
    for place in (folder / MAILBOXES, folder / "data" / MAILBOXES):
        if place.is_dir() and looks_like(place):
            return [place]
    places = [below / "data" / MAILBOXES for below in islice(sorted(_folders(folder)), MOST_ROOTS)]
    return [place for place in places if place.is_dir()]


def roots_below(path: Path, *, deep: bool = True) -> dict[str, Path]:
    """Return the mailbox folders up to two levels below a path, by folder name. Raises OSError."""
    roots: dict[str, Path] = {}
    for folder in islice(sorted(_folders(path)) if path.is_dir() else [], MOST_ROOTS):
        try:
            if (root := find(folder)) is not None:
                roots[folder.name] = root
            elif deep:
                roots |= {f"{folder.name}-{name}": root for name, root in roots_below(folder, deep=False).items()}
        except OSError:
            continue
    return {label: root for label, root in roots.items() if LABEL.fullmatch(label)}


def is_agent_name(name: str) -> bool:
    """Return whether a folder of this name may be an agent's."""
    return not name.startswith(".") and name != "shared"


def config_at(path: Path) -> dict[str, Any] | None:
    """Return the program's configuration at a path, or None. Raises OSError."""
    try:
        decoded = json.loads(read_whole(path, CONFIG_BYTES))
    except (NotAFile, ValueError, RecursionError):
        return None
    if isinstance(decoded, dict) and "agent_name" in decoded and "mailbox_dir" in decoded:
        return decoded
    return None


def mailbox_dir(config: dict[str, Any], path: Path) -> Path | None:
    """Return the folder of mailboxes in a configuration, relative to the configuration file."""
    named = config.get("mailbox_dir")
    if not isinstance(named, str) or not named or "\0" in named:
        return None
    return Path(os.path.normpath(path.absolute().parent / named))


def is_agent_folder(folder: Path) -> bool:
    """Return whether a folder contains an agent's key, or a day with a box."""
    if any((folder / key).is_file() for key in KEYS):
        return True
    days = (day for day in islice(_folders(folder), LOOKED_AT) if DAY.fullmatch(day.name))
    return any((day / box).is_dir() for day in days for box in BOXES)


def _folders(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_agent_name(entry.name) and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def make_box(root: Path, folder: Path) -> None:
    """Create a box and the folders above it, none of which may be a symbolic link. Raises OSError and StoreError."""
    for place in [*reversed(folder.relative_to(root).parents), folder.relative_to(root)][1:]:
        make_folder(root / place, look_of((root / place).parent))
        if (root / place).is_symlink():
            raise NotADirectoryError(20, "symbolic link: links are not followed", str(root / place))


def state_folder() -> Path:
    """Return the folder of our files for mailboxes of this kind; it may not exist yet."""
    return user_state_path("signalbox") / "agentazall"


def make_private(path: Path, data: bytes) -> None:
    """Create a private file unless it exists. Raises OSError."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # another process created it first: this never replaces a file
    with Pending(path, data, mode=0o600) as pending:
        pending.appear()
