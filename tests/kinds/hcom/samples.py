"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _hcom(folder: Path) -> str:
    (folder / ".hcom").mkdir(parents=True)
    database = folder / ".hcom" / "hcom.db"
    shutil.copy(FIXTURES / "hcom" / database.name, database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"hcom:{folder}"


SAMPLES: dict[str, Make] = {"hcom": _hcom}
