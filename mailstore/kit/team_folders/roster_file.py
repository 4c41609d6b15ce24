"""The JSON file that lists a team's members, and other JSON files of a team's program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import reason_of
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.stamp import path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kit.part_reader import is_settled
from mailstore.records.message import Problem


class RosterFile(msgspec.Struct, frozen=True):
    """The contents of the file and its problem, if any; `is_torn` if it may be half-written."""

    value: dict[str, Any] = {}
    problem: Problem | None = None
    is_torn: bool = False


def read_roster(path: Path, name: str, called: str, missing: str = "") -> RosterFile:
    """Read a file with members, shown by a name and called what its program calls it; `missing` if it must be there."""
    try:
        value = loads(read_whole(path))
    except FileNotFoundError:
        return _failed(name, missing) if missing else RosterFile()
    except NotAFile as error:
        return _failed(name, str(error))
    except OSError as error:
        return _failed(name, reason_of(error))
    except UNREADABLE:
        stamp = path_stamp(path)
        is_torn = stamp is not None and not is_settled(stamp.changed / 1e9)
        return _failed(name, f"the {called} is invalid JSON", is_torn=is_torn)
    if isinstance(value, dict) and isinstance(value.get("members"), list):
        return RosterFile(value)
    return _failed(name, f"the {called} names no members")


def _failed(name: str, reason: str, *, is_torn: bool = False) -> RosterFile:
    return RosterFile(problem=Problem(name, 1, 0, reason, False), is_torn=is_torn)


def members(roster: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a roster's members by name."""
    found = roster.get("members")
    listed = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {each["name"]: each for each in listed if isinstance(each.get("name"), str) and each["name"]}


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is none."""
    try:
        found = loads(read_whole(path))
    except (OSError, NotAFile, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
