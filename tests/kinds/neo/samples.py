"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _neo(folder: Path) -> str:
    data = folder / "repository" / ".neo-ai-data"
    (data / "sqlite").mkdir(parents=True)
    database = data / "sqlite" / "memory-core-graph.sqlite"
    shutil.copy(FIXTURES / "neo" / database.name, database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"neo:{folder / 'repository'}"


SAMPLES: dict[str, Make] = {"neo": _neo}
