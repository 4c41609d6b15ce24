"""Find mailboxes and messages by their place in the file system, and word the errors for what is missing.

Usage:

    root = found_at(find, path_of(location), f"there is no board at {location}", "name the board's folder")
    data = read_located(root, message)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from mailstore.errors import ContentGone, MailboxMissing, StoreError, reason_of
from mailstore.files.whole import NotAFile, read_whole
from mailstore.records.message import Message

Place = TypeVar("Place")
Find = Callable[[Path], Place | None]
"""Returns a kind's mailbox at a path that the user named; None if there is none. May raise OSError and ValueError."""


def is_found(find: Find[Place], path: Path, looks_right: Callable[[Place], bool] = lambda place: True) -> bool:
    """Say whether there is a mailbox at a path: `recognise` of a kind; a path that can't be read holds none."""
    try:
        place = find(path)
        return place is not None and looks_right(place)
    except (OSError, ValueError):
        return False


def found_at(find: Find[Place], path: Path, problem: str, remedy: str) -> Place:
    """Return the mailbox at a path; raises MailboxMissing, and StoreError for a path that can't be read."""
    try:
        place = find(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if place is None:
        raise MailboxMissing(problem, remedy)
    return place


def any_of(places: Iterable[Place], is_wanted: Callable[[Place], bool]) -> bool:
    """Say whether any place is what is looked for. Raises OSError if none is, and one can't be looked at."""
    uncertain: OSError | None = None
    for place in places:
        try:
            if is_wanted(place):
                return True
        except OSError as error:
            uncertain = error
    if uncertain is not None:
        raise uncertain
    return False


def read_located(folder: Path, message: Message) -> bytes:
    """Return the bytes of the file that a message's location names, from a mailbox's folder. Raises ContentGone."""
    if message.location is None:
        raise ContentGone(f"message {message.id} has no file", "check whether it was moved", "E274")
    try:
        return read_whole(folder / message.location.file)
    except (OSError, NotAFile) as error:
        raise ContentGone(f"{message.location.file} can't be read", "check whether it was moved", "E275") from error


def unreadable(path: object, error: Exception) -> StoreError:
    """Return the error for what the file system refuses to read: the very file, where the error names it."""
    path = getattr(error, "filename", None) or path
    return StoreError(f"{path} can't be read", reason_of(error), "E273")
