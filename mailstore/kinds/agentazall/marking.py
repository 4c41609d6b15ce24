"""Mark messages as read in an agent's inbox, as its own program does when it shows one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from mailstore.files.append import replace_file
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.day_index import INDEX, keep_index
from mailstore.kinds.agentazall.decode import Copy
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, parse
from mailstore.kinds.agentazall.names import address_of
from mailstore.kinds.agentazall.places import DAY, INBOX, trees_of

Ids = Callable[[SignedFile, Copy], str]


def write_reads(root: Path, reader: str, message_ids: Collection[str], known_id: Ids) -> int:
    """Mark messages as read in an agent's inbox; return how many were new. Raises StoreError and OSError.

    A message usually lies in a file of its name; where one doesn't, the whole inbox is looked at.
    """
    wanted, marked = set(message_ids), 0
    for is_wholly in (False, True):
        for path, copy in list(_inbox(root, address_of(reader))):
            if not wanted:
                return marked
            if not (is_wholly or any(each.startswith(copy.stem) for each in wanted)):
                continue
            with suppress(NotAFile, InvalidSignedFile, FileNotFoundError):
                data = read_whole(path)
                message = parse(data)
                if (message_id := known_id(message, copy)) in wanted:
                    wanted.discard(message_id)
                    marked += _mark(path, data, message)
    return marked


def _inbox(root: Path, address: str) -> Iterator[tuple[Path, Copy]]:
    """Yield the files in an agent's inboxes, the newest day first; no link is followed."""
    for tree in trees_of(root):
        owner = f"{tree}/{address}" if tree else address
        home = root / owner
        if home.is_symlink() or not home.is_dir():
            continue
        for day in sorted((each for each in home.iterdir() if DAY.fullmatch(each.name)), reverse=True):
            box = day / INBOX
            if not (day.is_symlink() or box.is_symlink()) and box.is_dir():
                for path in sorted(box.glob("*.txt")):
                    yield path, Copy(owner, day.name, INBOX, path.name)


def _mark(path: Path, data: bytes, signed: SignedFile) -> bool:
    """Write that a message was read, and the list of its day; return whether it had not been."""
    if signed.get("Status").lower() == "read":
        return False
    lines = data.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if line.strip() == b"---"), len(lines))
    at = max((at for at in range(end) if lines[at].partition(b":")[0].strip() == b"Status"), default=-1)
    if at < 0:
        # before the empty line that ends a header
        at = next((at for at in range(end) if not lines[at].strip()), end)
        lines.insert(at, b"")
    lines[at] = b"Status: read" + (b"\r\n" if lines[at].endswith(b"\r\n") else b"\n")
    replace_file(path, b"".join(lines))
    day = path.parent.parent
    if (day / INDEX).is_file() and not (day / INDEX).is_symlink():
        keep_index(day, is_due=True)
    return True
