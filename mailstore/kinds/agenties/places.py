"""Find the mailbox of an Agenties project."""

from __future__ import annotations

from pathlib import Path

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.whole import open_binary

FOLDER = ".agenties"
MAILBOX = "mailbox.jsonl"
TEAMS = ("shared/team.json", "team.json")
"""Files that may list the members of the team, relative to the mailbox's folder."""
FIRST_LINES = 3
LONGEST_LOOK = 1 << 20


def find(path: Path) -> Path | None:
    """Return the mailbox file for a path: the file, its folder, or the project above. Raises OSError."""
    path = path.absolute()
    if path.is_dir():
        places = [path / FOLDER / MAILBOX, *([path / MAILBOX] if path.name == FOLDER else [])]
        return next((place for place in places if _is_there(place)), None)
    return path if path.suffix == ".jsonl" and _is_there(path) else None


def _is_there(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def looks_like_mail(mailbox: Path) -> bool:
    """Return whether a file is a mailbox, judged by name and folder or by its first lines. Raises OSError."""
    if mailbox.name == MAILBOX and mailbox.parent.name == FOLDER:
        return True
    with open_binary(mailbox) as file:
        return any(_is_mail(file.readline(LONGEST_LOOK)) for _ in range(FIRST_LINES))


def _is_mail(line: bytes) -> bool:
    try:
        record = loads(line)
    except UNREADABLE:
        return False
    return isinstance(record, dict) and all(isinstance(record.get(key), str) for key in ("from", "to", "createdAt"))
