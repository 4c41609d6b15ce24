"""Copy a HAAK mailbox file by file, including damage and unknown fields."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mailstore.errors import MailboxBusy
from mailstore.files.whole import copy_regular
from mailstore.haak.places import MailboxFiles

TRIES = 5


def copy_files(source: MailboxFiles, target: MailboxFiles) -> None:
    """Copy every file of a mailbox to a new one, with the new one's file names.

    Raises MailboxBusy if archivals keep replacing files meanwhile, and OSError.
    """
    for _ in range(TRIES):
        before = _identity(source)
        for path in (target.roster_lines, target.roster_document):
            path.unlink(missing_ok=True)
        for path, place in _pairs(source, target):
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                copy_regular(path, place)
        if _identity(source) == before:
            return
        for place in (*target.months(), *target.set_aside().values()):
            place.unlink()
    raise MailboxBusy(f"{source.mailbox} is being archived", "try again when that is done", "E380")


def _identity(places: MailboxFiles) -> list[tuple[str, int]]:
    """Return what an archival changes: the mailbox files and months."""
    result = []
    for path in (places.mailbox, *places.set_aside().values(), *places.months()):
        with suppress(FileNotFoundError):
            result.append((path.name, path.stat().st_ino))
    return result


def _pairs(source: MailboxFiles, target: MailboxFiles) -> list[tuple[Path, Path]]:
    """Return each file of a mailbox with its path in another one; the mailbox file last, after the records about it."""
    pairs = [
        (source.roster_lines, target.roster_lines),
        (source.roster_document, target.roster_document),
        *((path, target.archive / path.name) for path in source.months()),
        *((path, target.aside(run)) for run, path in source.set_aside().items()),
        (source.reads, target.reads),
        (source.deliveries, target.deliveries),
        (source.journal, target.journal),
        (source.mailbox, target.mailbox),
    ]
    return [(path, place) for path, place in pairs if path.exists()]
