"""Change a small JSON file that other programs change too: it appears complete, and replaces nothing newer."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.flushing import flush
from mailstore.files.owned import look_of, make_folder
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.channels.decode import InvalidChannelFile, record_in
from mailstore.kit.json_records import encode_record

TRIES = 20
Record = dict[str, Any]
Change = Callable[[Record | None], Record | None]
"""Gets the record, None where there is none; returns the new one, None to leave it as it is."""


def record_at(path: Path) -> Record | None:
    """Return the record in a file; None if there is none. Raises StoreError for a damaged one, OSError."""
    try:
        return record_in(read_whole(path))
    except FileNotFoundError:
        return None
    except (InvalidChannelFile, NotAFile) as error:
        raise StoreError(f"{path} can't be changed ({error})", "mend or remove it") from error


def change_record(path: Path, change: Change) -> bool:
    """Replace a record by what `change` makes of it; return whether it was replaced. Raises StoreError, OSError.

    If another program writes the file meanwhile, `change` is called again with what it wrote.
    """
    for _ in range(TRIES):
        before = path_stamp(path)
        record = change(record_at(path))
        if record is None:
            return False
        data = msgspec.json.format(encode_record(record), indent=2) + b"\n"
        make_folder(path.parent.parent, look_of(path.parent.parent.parent))
        make_folder(path.parent, look_of(path.parent.parent))
        if _replaced(path, data, before):
            return True
    raise StoreError(f"{path} changes all the time", "try again")


def _replaced(path: Path, data: bytes, before: Stamp | None) -> bool:
    """Put new data in the place of a file, unless it was written since; what a crash left of it is used again."""
    new = path.with_name(f".{path.stem}.signalbox.tmp")
    with locked(new, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, like=look_of(path, path.parent)) as fd:
        is_done = False
        try:
            os.ftruncate(fd, 0)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            flush(fd)
            is_done = path_stamp(path) == before
            if is_done:
                new.rename(path)
        except BaseException:
            is_done = False
            raise
        finally:
            if not is_done:  # once it has its name, another program may have begun the next one
                with suppress(FileNotFoundError):
                    new.unlink()
    return is_done
