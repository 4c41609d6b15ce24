"""Write which lines of a folded mailbox name whom, so that a hook need not read it from its beginning."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mailstore.columns.messages import ABSENT, NONE, MessageHead
from mailstore.files.lines import LinePlace
from mailstore.haak.quick.mail_index import VERSION, index_name
from mailstore.records.protocol import BROADCAST_NAMES, BROADCAST_TTL_HOURS
from mailstore.rules.audience import HOUR
from mailstore.state.contents import MailboxContents

MOST_UNARRIVED = 1000
ALIGNED = 8
Rows = NDArray[np.int32]


def write_index(contents: MailboxContents, name: str, mail: LinePlace, reads: LinePlace | None, folder: Path) -> None:
    """Write the index of the mailbox file with a name into a folder, if all there is in it is usual. Raises OSError.

    `mail` and `reads` say how far the files were read.
    """
    table = contents.messages
    unarrived = {table.ids.texts[row]: row for row in range(len(table)) if not table.is_there(row)}
    if contents.duplicates or len(unarrived) > MOST_UNARRIVED or table.ids.leads:
        return
    heads = np.array(table.heads, np.uint32)
    parts: list[NDArray[Any]] = [
        np.array(table.offsets, np.int64),
        np.array(table.times) + np.array([_ttl(head) for head in table.head_values.values])[heads],
        np.array(table.lengths).astype(np.uint32),
        np.array(table.ids.hashes, np.uint32),
        np.array(table.ids.rows, np.int32),
    ]
    names, postings = _spans(_by_name(table.head_values.values, heads, name))
    readers, read = _spans(_by_reader(contents))
    header: dict[str, Any] = {
        "version": VERSION,
        "mail": _place(mail),
        "reads": None if reads is None else _place(reads),
        "unarrived": unarrived,
        "rows": len(table),
        "ids": len(table.ids.hashes),
        "names": names,
        "readers": readers,
        "postings": len(postings),
        "read": len(read),
    }
    _write(folder / index_name(mail.device, mail.inode), header, [*parts, postings, read])


def _place(place: LinePlace) -> list[Any]:
    return [place.device, place.inode, place.size, place.modified, place.changed, place.offset, place.witness.hex()]


def _ttl(head: MessageHead) -> float:
    """Return for how many seconds a message may be open at most, unless its recipients were frozen."""
    if not head.timed:
        return np.inf
    if head.ttl_hours is None and not BROADCAST_NAMES.issuperset(head.recipients):
        return np.inf
    return HOUR * (BROADCAST_TTL_HOURS if head.ttl_hours is None else head.ttl_hours)


def _by_name(values: list[MessageHead], heads: NDArray[np.uint32], file: str) -> Iterable[tuple[str, Rows]]:
    """Yield the rows in the file of live mail that are addressed to each name, or mention it."""
    order = np.argsort(heads, kind="stable").astype(np.int32)
    starts = np.searchsorted(heads[order], np.arange(len(values) + 1))
    naming: dict[str, list[int]] = defaultdict(list)
    for number, head in enumerate(values):
        if number != ABSENT and head.file == file and not head.archived:
            for name in {recipient.removeprefix("agent:") for recipient in (*head.recipients, *head.mentions)}:
                naming[name].append(number)
    for name, numbers in naming.items():
        yield name, np.sort(np.concatenate([order[starts[at] : starts[at + 1]] for at in numbers]))


def _by_reader(contents: MailboxContents) -> Iterable[tuple[str, Rows]]:
    """Yield the rows that each reader has read."""
    reads, names = contents.receipts.reads, contents.messages.names.values
    following = np.array(reads.following, np.int32)
    rows = np.full(len(following), NONE, np.int32)
    entries = np.array(reads.first, np.int32)
    owners = np.flatnonzero(entries != NONE).astype(np.int32)
    entries = entries[owners]
    while len(entries):
        rows[entries] = owners
        entries = following[entries]
        goes_on = entries != NONE
        entries, owners = entries[goes_on], owners[goes_on]
    readers = np.array(reads.names, np.uint32)
    order = np.argsort(readers, kind="stable")
    starts = np.searchsorted(readers[order], np.arange(len(names) + 1))
    for number, name in enumerate(names):
        own_rows = rows[order[starts[number] : starts[number + 1]]]
        if len(own_rows):
            yield name, np.sort(own_rows)


def _spans(rows_by_reader: Iterable[tuple[str, Rows]]) -> tuple[dict[str, tuple[int, int]], Rows]:
    """Return where the rows of each name begin and end among all of them, and all of them."""
    spans, parts, at = {}, [np.empty(0, np.int32)], 0
    for name, rows in rows_by_reader:
        spans[name] = (at, at + len(rows))
        parts.append(rows)
        at += len(rows)
    return spans, np.concatenate(parts)


def _write(path: Path, header: dict[str, Any], parts: list[NDArray[Any]]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as file:
        try:
            text = json.dumps(header, separators=(",", ":")).encode()
            file.write(text + b" " * (-(len(text) + 1) % ALIGNED) + b"\n")
            for part in parts:
                data = part.tobytes()
                file.write(data + bytes(-len(data) % ALIGNED))
            file.close()
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
