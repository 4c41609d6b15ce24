"""Save a message's files, or a private copy of one to be opened; a name in a message is never a path here."""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path, PurePath
from typing import BinaryIO

from console.errors import Refused
from mailstore.errors import reason_of
from mailstore.files.durable import NO_LINKS
from mailstore.files.flushing import flush
from mailstore.files.naming import safe_name
from mailstore.records.message import Message
from mailstore.store import Store

LARGEST = 1 << 30
"""Bytes of a file that is saved."""
PIECE = 1 << 20
MOST_NUMBERS = 1000
ENDING = re.compile(r"(?<=[^.])\.[A-Za-z0-9]{1,10}\Z")
DOCUMENTS = re.compile(
    "txt|text|md|rst|log|csv|tsv|json|jsonl|ya?ml|toml|ini|diff|patch|tex|bib"
    "|png|jpe?g|gif|webp|bmp|tiff?|heic"
    "|pdf|od[tsp]|docx|xlsx|pptx|rtf|epub"
    "|mp3|og[ga]|opus|wav|flac|m4a|mp4|m4v|webm|mkv|mov"
)
"""Endings of files that are looked at or listened to; programs, scripts, links and web pages are not among them."""


def file_name_of(name: str) -> str:
    """Return the name under which a file is saved: one component, without control or invisible characters."""
    ending = ENDING.search(name)
    is_safe = ending is None or safe_name(name) == name
    safe = safe_name(name) if is_safe or ending is None else safe_name(name[: ending.start()]) + ending[0]
    return f"_{safe[1:]}" if safe.startswith("-") else safe


def why_not_open(name: str) -> str:
    """Return why a file is saved but never opened from here; empty if it can be opened."""
    ending = PurePath(file_name_of(name)).suffix[1:].lower()
    if DOCUMENTS.fullmatch(ending):
        return ""
    return f"a file .{ending} might be run rather than shown" if ending else "its name doesn't say what it is"


def save_attachment(store: Store, message: Message, name: str, folder: Path, places: Sequence[str] = ()) -> Path:
    """Save a message's file in a folder and return where; an existing file is never replaced.

    Blocks. Raises Refused, ContentGone.
    """
    with store.open_attachment(message, name, places) as source:
        try:
            return _written(source, folder, file_name_of(name), 0o666)
        except OSError as error:
            remedy = "check the folder, its permissions and the free space"
            raise Refused(f"the file can't be saved in {folder} ({reason_of(error)})", remedy, "E165") from error


def open_copy(store: Store, message: Message, name: str, places: Sequence[str] = ()) -> Path:
    """Write a private copy of a message's file, which lasts as long as this program. Raises Refused, ContentGone.

    Blocks. Nobody may run it, and the mailbox's own file is not given to another program.
    """
    if why := why_not_open(name):
        raise Refused(f"this file can't be opened here ({why})", "save it, and look at it with care", "E164")
    with store.open_attachment(message, name, places) as source:
        try:
            folder = Path(tempfile.mkdtemp(dir=_copies()))
            return _written(source, folder, file_name_of(name), 0o400)
        except OSError as error:
            raise Refused(f"the file can't be copied ({reason_of(error)})", "check the free space", "E166") from error


@lru_cache(maxsize=1)
def _copies() -> str:
    """Return the folder of copies, which is removed when the program ends."""
    folder = tempfile.mkdtemp(prefix="signalbox-files-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _written(source: BinaryIO, folder: Path, name: str, mode: int) -> Path:
    """Copy a file's bytes into a new file, whole or not at all. Raises OSError, Refused."""
    draft = tempfile.NamedTemporaryFile(prefix=".signalbox-", dir=folder, delete=False)  # noqa: SIM115 - linked before it goes
    try:
        with draft:
            size = 0
            while piece := source.read(PIECE):
                size += len(piece)
                if size > LARGEST:
                    raise Refused(
                        f"the file is larger than {LARGEST >> 30} GiB", "copy it from the mailbox yourself", "E167"
                    )
                draft.write(piece)
            draft.flush()
            with suppress(PermissionError):  # a file system with modes of its own
                os.fchmod(draft.fileno(), mode & ~_umask())
            flush(draft.fileno())
        for path in _free_names(folder, name):
            with suppress(FileExistsError):
                _name(Path(draft.name), path)
                return path
    finally:
        Path(draft.name).unlink(missing_ok=True)
    raise Refused(f"{folder} has too many files with this name", "choose another folder", "E163")


def _name(draft: Path, path: Path) -> None:
    """Give a file its name. Raises FileExistsError if that is taken, and OSError."""
    try:
        path.hardlink_to(draft)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        path.touch(exist_ok=False)
        draft.replace(path)


def _free_names(folder: Path, name: str) -> Iterator[Path]:
    path = folder / name
    yield path
    for number in count(2):
        if number > MOST_NUMBERS:
            return
        yield path.with_name(f"{path.stem} ({number}){path.suffix}")


@lru_cache(maxsize=1)
def _umask() -> int:
    """Return the mask of this process, as it was when this was first asked."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


OPENERS = ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview")
SECONDS = 5
"""An opener that still runs then has started a program itself."""


def find_opener() -> str | None:
    """Return the path of the program that opens links; None where there is none."""
    return next(filter(None, map(shutil.which, OPENERS)), None)


async def open_link(opener: str, target: str) -> str:
    """Open a link, which `console.render.links.safe_target` returned; return what went wrong, empty for success."""
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            opener, target, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        async with asyncio.timeout(SECONDS):
            status = await process.wait()
    except TimeoutError:
        return ""
    except OSError as error:
        return f"{opener} can't be run: {reason_of(error)}"
    return "" if status == 0 else f"{opener} exited with status {status}"


def editor_command(configured: str | None) -> str:
    """Return the command line of the editor: the configured one, $VISUAL, $EDITOR or vi."""
    return configured or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
