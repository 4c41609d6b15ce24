"""Keep the list of each day of an agent, `index.txt`, as the original program does: its agents read that."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from mailstore.files.append import replace_file
from mailstore.files.folder import path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, parse
from mailstore.kinds.agentazall.places import DAY, INBOX, OUTBOX, SENT

INDEX = "index.txt"
NEWEST_DAYS, ALL_SECONDS = 3, 60.0
"""The days that are looked at each time, and how often all are."""
SHOWN = 100
"""Characters of a memory's first line."""
FOLDERS = (INBOX, SENT, OUTBOX, "notes", "remember", "who_am_i", "what_am_i_doing")


class DayIndexes:
    """The lists of one agent's days. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._all_at = float("-inf")

    def keep(self) -> None:
        """Write the list of each day that has changed since it was written. Raises OSError and StoreError."""
        days = sorted(name for name in os.listdir(self._home) if DAY.fullmatch(name))  # noqa: PTH208 - names are enough
        if time.monotonic() - self._all_at < ALL_SECONDS:
            days = days[-NEWEST_DAYS:]
        else:
            self._all_at = time.monotonic()
        for day in days:
            if not (self._home / day).is_symlink():
                keep_index(self._home / day)


def keep_index(day: Path, *, is_due: bool = False) -> None:
    """Write the list of a day, if it is due or a folder has changed since that was done. Raises OSError, StoreError."""
    # taken before anything is read: what comes meanwhile makes the list due again
    changed = max((stamp.changed for each in FOLDERS if (stamp := path_stamp(day / each)) is not None), default=None)
    index = path_stamp(day / INDEX)
    if changed is None or (index is not None and index.changed >= changed and not is_due):
        return
    replace_file(day / INDEX, _text(day).encode("utf-8", "replace"))
    os.utime(day / INDEX, ns=(changed, changed))


def _text(day: Path) -> str:
    """Return the list of a day. Raises OSError."""
    inbox = [f"{_status(head)} {_hour(head)} | From: {_of(head, 'From')} | {end}" for head, end in _heads(day, INBOX)]
    sent = [f"{_hour(head)} | To: {_of(head, 'To')} | {end}" for head, end in _heads(day, SENT)]
    outbox = [f"[PENDING] To: {_of(head, 'To')} | {end}" for head, end in _heads(day, OUTBOX)]
    notes = [f"{text.stem} ({text.stat().st_size}B) | notes/{text.name}" for text in texts_in(day / "notes")]
    kept = [f"{text.stem}: {_first_line(text)} | remember/{text.name}" for text in texts_in(day / "remember")]
    lines = [
        f"# AgentAZAll Index: {day.parent.name}",
        f"# Date: {day.name}",
        f"# Updated: {time.strftime('%Y-%m-%d %H:%M:%S')}",
        "",
    ]
    for name, rows in (("INBOX", inbox), ("SENT", sent), ("OUTBOX", outbox), ("NOTES", notes), ("REMEMBER", kept)):
        if rows or name in ("INBOX", "SENT"):
            lines += [f"{name} ({len(rows)}):", *(f"  {row}" for row in rows or ["(empty)"]), ""]
    for name, file in (("IDENTITY", "who_am_i/identity.txt"), ("TASKS", "what_am_i_doing/tasks.txt")):
        if (day / file).is_file():
            lines.append(f"{name}: {file}")
    return "\n".join(lines)


def texts_in(folder: Path) -> list[Path]:
    """Return the text files in a folder by name; no link is followed."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    paths = (path for path in folder.iterdir() if path.suffix == ".txt" and not path.name.startswith("."))
    return sorted((path for path in paths if path.is_file() and not path.is_symlink()), key=lambda path: path.name)


def _heads(day: Path, box: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the header of each message in a box as the original program reads it, and the end of its line."""
    for path in texts_in(day / box):
        try:
            head = dict(parse(read_whole(path)).lines)
        except (NotAFile, InvalidSignedFile, FileNotFoundError):
            continue
        yield head, f"Subject: {_of(head, 'Subject')} | {box}/{path.name}"


def _of(head: dict[str, str], name: str) -> str:
    return head.get(name, "?")


def _status(head: dict[str, str]) -> str:
    return f"[{_of(head, 'Status').upper()}]{' [ATT]' if 'Attachments' in head else ''}"


def _hour(head: dict[str, str]) -> str:
    _, space, hour = head.get("Date", "").rpartition(" ")
    return hour if space else "??:??"


def _first_line(path: Path) -> str:
    try:
        text = read_whole(path).decode("utf-8", "replace").strip()
    except NotAFile:
        return ""
    return text.partition("\n")[0][:SHOWN]
