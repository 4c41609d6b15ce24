"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hostile.copied_samples import Make
from tests.kinds.mapped.foreign_mail import HCOM, LINES, OVERSTORY, SPOOL, hcom, mapped, overstory, spool, write_lines


def _rows(folder: Path) -> str:
    with closing(sqlite3.connect(overstory(folder))) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"mapped:{mapped(folder, OVERSTORY)}"


def _events(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    hcom(folder)
    return f"mapped:{mapped(folder, HCOM)}"


def _spool(folder: Path) -> str:
    spool(folder)
    return f"mapped:{mapped(folder, SPOOL)}"


def _lines(folder: Path) -> str:
    records = [{"from": "ann", "to": ["bob", "user"], "text": f"Text {number}.\n\nMore."} for number in range(4)]
    write_lines(folder / "log.jsonl", records)
    return f"mapped:{mapped(folder, LINES)}"


SAMPLES: dict[str, Make] = {
    "mapped-rows": _rows,
    "mapped-events": _events,
    "mapped-files": _spool,
    "mapped-lines": _lines,
}
