"""Which agents' programs are on this machine or used in a project, and their versions."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from console.errors import Refused
from console.hooks.install.bounded_run import run_briefly
from console.hooks.install.programs import NAMES, ProgramFiles, Target, Version, program_files
from console.hooks.install.programs.former import FORMER_PROGRAMS
from mailstore.files.whole import read_whole

ALL = "all"
VERSION_SECONDS = 5.0
PACKAGE_DEPTH = 5


def chosen(names: Sequence[str], target: Target, *, installing: bool) -> list[ProgramFiles]:
    """Return the programs that were named; for `all` those that are on the PATH or whose files are in the project.

    To uninstall, `all` means all, and those that earlier versions installed for. Raises Refused if none is found.
    """
    if ALL not in names and names:
        return [program_files(name) for name in NAMES if name in names]
    everything = [program_files(name) for name in NAMES]
    if not installing:
        return [*everything, *FORMER_PROGRAMS]
    files = [program for program in everything if _is_here(program, target)]
    if not files:
        raise Refused("no agent program was found", "name one, for example --for claude-code", "E220")
    return files


def version_of(program: ProgramFiles, target: Target, seconds: float = 0.0) -> Version | None:
    """Return the version of the program that is on the PATH; None if there is none, or if it can't be found in time."""
    path = shutil.which(program.COMMAND, path=target.env.get("PATH")) if program.COMMAND else None
    if path is None:
        return None
    said = _packaged(Path(path), program.PACKAGE) if program.PACKAGE else b""
    said = said or run_briefly([path, "--version"], seconds or VERSION_SECONDS, target.env) or b""
    match = re.search(rb"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", said)
    return tuple(int(part) for part in match.groups()) if match else None


def _packaged(path: Path, package: str) -> bytes:
    """Return the version in the package's own description; empty if the command is not from that package."""
    for folder in path.resolve().parents[:PACKAGE_DEPTH]:
        with suppress(OSError, ValueError, RecursionError):
            decoded = json.loads(read_whole(folder / "package.json", follow=True))
            if isinstance(decoded, dict) and decoded.get("name") == package:
                return str(decoded.get("version")).encode()
    return b""


def _is_here(program: ProgramFiles, target: Target) -> bool:
    if not program.COMMAND and not program.MARKS:
        return False
    if program.COMMAND and shutil.which(program.COMMAND, path=target.env.get("PATH")):
        return True
    return not target.is_user and any((target.folder / mark).exists() for mark in program.MARKS)
