"""Copy what `bd` needs of a Dolt database into a private folder: whatever it writes there is thrown away."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from mailstore.files.database import Unreadable
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.beads.lines import value_of
from mailstore.kinds.beads.places import FOLDER, BeadsPlaces, DoltPlace

LARGEST = 256 << 20
MOST_FILES = 20_000
TRIES = 3
SMALL = 1 << 20
LOCAL_VERSION, METADATA, PORT = ".local_version", "metadata.json", "dolt-server.port"
STATE = "repo_state.json"
KEPT = ("backend", "database", "dolt_mode", "dolt_database", "dolt_server_port", "dolt_server_user", "project_id")
ON_THIS_MACHINE = ("", "127.0.0.1", "localhost", "::1")
SKIPPED = "LOCK"
Entry = tuple[str, int, int]


def version_in(folder: Path) -> str:
    """Return which release of `bd` used a database last; empty if nothing says so."""
    try:
        return read_whole(folder / LOCAL_VERSION, SMALL).decode().strip().removeprefix("v")
    except (OSError, NotAFile, ValueError):
        return ""


def state_of(dolt: DoltPlace) -> tuple[Entry, ...]:
    """Return the names, sizes and times of all files of a database. Raises OSError and Unreadable."""
    return tuple(_files(dolt.folder)) if dolt.folder else ()


def copied(places: BeadsPlaces, dolt: DoltPlace, private: Path) -> None:
    """Make a folder `.beads` in a private one. Raises Unreadable, where that can't be done safely, and OSError."""
    host = dolt.metadata.get("dolt_server_host", "")
    if dolt.is_served and host not in ON_THIS_MACHINE:
        raise Unreadable("its database is on another machine")
    target = private / FOLDER
    target.mkdir(mode=0o700)
    metadata: dict[str, Any] = {name: dolt.metadata[name] for name in KEPT if name in dolt.metadata}
    metadata |= {"dolt_server_host": "127.0.0.1"} if dolt.is_served else {}
    (target / METADATA).write_bytes(msgspec.json.encode(metadata))
    (target / LOCAL_VERSION).write_text(version_in(places.folder))
    if dolt.is_served:
        try:
            port = read_whole(places.folder / PORT, SMALL).strip()
        except (OSError, NotAFile):
            return
        if port.isdigit():
            (target / PORT).write_bytes(port)
    elif dolt.folder:
        _copy(dolt, dolt.folder, target / dolt.folder.name)


def _copy(dolt: DoltPlace, source: Path, target: Path) -> None:
    for _ in range(TRIES):
        before = state_of(dolt)
        for name, _size, _changed in before:
            to = target / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, to, follow_symlinks=False)
            if to.name == STATE:
                _disconnect(to)
        if state_of(dolt) == before:
            return
        shutil.rmtree(target, ignore_errors=True)
    raise Unreadable("other programs keep writing to its database")


def _disconnect(file: Path) -> None:
    """Leave out the servers with which a database is kept in step."""
    state = value_of(read_whole(file, SMALL))
    file.write_bytes(msgspec.json.encode({**state, "remotes": {}, "backups": {}}))


def _files(folder: Path) -> Iterator[Entry]:
    """Yield the regular files below a folder, without following a link."""
    size = count = 0
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)  # noqa: PTH118 - there may be thousands
            facts = os.lstat(path)
            if name == SKIPPED or not stat.S_ISREG(facts.st_mode):
                continue
            size, count = size + facts.st_size, count + 1
            if size > LARGEST:
                raise Unreadable(f"its database is larger than {LARGEST >> 20} MiB")
            if count > MOST_FILES:
                raise Unreadable(f"its database has more than {MOST_FILES:,} files")
            yield os.path.relpath(path, folder), facts.st_size, facts.st_mtime_ns
