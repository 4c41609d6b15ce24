"""Run `bd` so that nothing of it reaches the mailbox: in a private folder, bounded in time and output."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mailstore.files.bounded_program import OutOfBounds, run_bounded
from mailstore.files.database import Unreadable
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kinds.beads.records import AGENT, CHANNEL, GROUP, MESSAGE, QUEUE

SETTING = "SIGNALBOX_BD"
"""The environment variable that names the program; empty where none may be run."""
SECONDS = 30.0
LARGEST = 64 << 20
"""Bytes of output."""
REASON_LENGTH = 200
ALWAYS = ("--readonly", "--sandbox")
LABELS = ",".join((MESSAGE, AGENT, CHANNEL, QUEUE, GROUP))
LIST = ("list", "--json", "--all", "--limit=0", f"--label-any={LABELS}")
OPTIONAL = ("--flat", "--include-infra")
"""What newer releases need and older ones do not know."""
KEPT = ("PATH", "LANG", "LC_ALL", "BEADS_DOLT_PASSWORD")
SETTINGS = {
    "BEADS_DOLT_AUTO_START": "0",
    "BEADS_NO_DAEMON": "1",
    "BD_NO_DAEMON": "1",
    "BD_IMPORT_AUTO": "false",
    "BD_EXPORT_AUTO": "false",
    "BD_BACKUP_ENABLED": "false",
    "BD_GIT_HOOK": "1",
    "BD_NON_INTERACTIVE": "1",
    "BD_DISABLE_METRICS": "1",
}
VERSION = re.compile(r"\b(\d+\.\d+\.\d+\S*)")
UNKNOWN_FLAG = re.compile(r"unknown flag: (--[a-z-]+)")
KEYS = ("items", "data", "issues")
"""Where the issues are if the output is an object."""
NOTHING = "No issues found"


def program() -> str:
    """Return the path of `bd`; empty if there is none, or none may be run."""
    path = shutil.which(os.environ.get(SETTING, "bd")) or ""
    return path if Path(path).is_absolute() else ""


def version_of(bd: str, folder: Path) -> str:
    """Return what release of `bd` a program is, without a database; `folder` is private. Raises Unreadable."""
    match = VERSION.search(_run([bd, "version"], folder).decode("utf-8", "replace"))
    if match is None:
        raise Unreadable(f"{bd} does not say which release it is")
    return match[1]


def listed(bd: str, folder: Path) -> list[Any]:
    """Return the issues that concern mail in the database of a private folder. Raises Unreadable and OSError."""
    optional = list(OPTIONAL)
    while True:
        try:
            return _issues_in(_run([bd, *ALWAYS, *LIST, *optional], folder))
        except Unreadable as error:
            unknown = UNKNOWN_FLAG.search(str(error))
            if unknown is None or unknown[1] not in optional:
                raise
            optional.remove(unknown[1])


def _issues_in(output: bytes) -> list[Any]:
    """Return the issues in what `bd list --json` printed, in the form of any release. Raises Unreadable."""
    lines = output.decode("utf-8", "replace").splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if line.lstrip()[:1] in ("[", "{")), None)
    text = "" if start is None else "".join(lines[start:])
    if not text:
        if not output.strip() or output.strip() == b"null" or NOTHING in "".join(lines):
            return []
        raise Unreadable("bd printed no JSON")
    try:
        value = loads(text.encode())
    except UNREADABLE as error:
        raise Unreadable("bd printed invalid JSON") from error
    if isinstance(value, dict):
        value = next((value[key] for key in KEYS if isinstance(value.get(key), list)), None)
    if not isinstance(value, list):
        raise Unreadable("bd printed no list of issues")
    return value


def _run(command: Sequence[str], folder: Path) -> bytes:
    """Return what a command prints; it is ended with all that it started. Raises Unreadable and OSError."""
    out, err = folder / "out", folder / "err"
    with out.open("wb") as printed, err.open("wb") as complained:
        try:
            status = run_bounded(
                command,
                folder,
                _environment(folder),
                printed=printed,
                complained=complained,
                seconds=SECONDS,
                largest=LARGEST,
            )
        except OutOfBounds as error:
            raise Unreadable(f"bd {error}") from error
    if status:
        raise Unreadable(_complaint(err) or f"bd ended with status {status}")
    return out.read_bytes()


def _complaint(file: Path) -> str:
    with file.open("rb") as opened:
        return " ".join(opened.read(REASON_LENGTH).decode("utf-8", "replace").split())


def _environment(folder: Path) -> Mapping[str, str]:
    known = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**known, **SETTINGS, "HOME": str(folder), "TMPDIR": str(folder), "BEADS_DIR": str(folder / ".beads")}
