"""A mailbox of every kind, small, with something of everything; each is made anew in a folder."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.kinds.beads.beads_town import gas_town
from tests.kinds.mapped.foreign_mail import HCOM, LINES, OVERSTORY, SPOOL, hcom, mapped, overstory, spool, write_lines
from tests.mailboxes import every_case, tangled

FIXTURES = Path(__file__).parents[1] / "fixtures"
Make = Callable[[Path], str]
"""Makes a mailbox in a folder; returns what `--store` takes."""


def _haak(folder: Path) -> str:
    mail, _ = every_case(folder, time.time())
    return mail.url


def _amended(folder: Path) -> str:
    mail = tangled(folder, time.time(), "amendment")
    mail.agent("cid-00000001", role="clerk", tags=["project:ink"])
    mail.intervention("acknowledge", "root", recipient="bob-00000001")
    mail.read("late", "ann-00000001")
    (mail.data / "agent-roster.json").write_text('[{"session_id": "dan-00000001", "status": "frozen"}]')
    return mail.url


def _copied(kind: str, source: str, place: str = "") -> Make:
    def make(folder: Path) -> str:
        shutil.copytree(FIXTURES / source, folder / source)
        return f"{kind}:{folder / source / place}"

    return make


def _neo(folder: Path) -> str:
    data = folder / "repository" / ".neo-ai-data"
    (data / "sqlite").mkdir(parents=True)
    database = data / "sqlite" / "memory-core-graph.sqlite"
    shutil.copy(FIXTURES / "neo" / database.name, database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"neo:{folder / 'repository'}"


def _hcom(folder: Path) -> str:
    (folder / ".hcom").mkdir(parents=True)
    database = folder / ".hcom" / "hcom.db"
    shutil.copy(FIXTURES / "hcom" / database.name, database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"hcom:{folder}"


def _transcripts(folder: Path) -> str:
    release = FIXTURES / "claude-code" / "2.1.330"
    shutil.copytree(release / "projects", folder / "projects")
    shutil.copytree(release / "queue", folder / "teams")
    return f"claude-teams:{folder}"


def _rows(folder: Path) -> str:
    with closing(sqlite3.connect(overstory(folder))) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return f"mapped:{mapped(folder, OVERSTORY)}"


def _events(folder: Path) -> str:
    folder.mkdir(parents=True)
    hcom(folder)
    return f"mapped:{mapped(folder, HCOM)}"


def _spool(folder: Path) -> str:
    spool(folder)
    return f"mapped:{mapped(folder, SPOOL)}"


def _lines(folder: Path) -> str:
    records = [{"from": "ann", "to": ["bob", "user"], "text": f"Text {number}.\n\nMore."} for number in range(4)]
    write_lines(folder / "log.jsonl", records)
    return f"mapped:{mapped(folder, LINES)}"


def _beads(folder: Path) -> str:
    return f"beads:{gas_town(folder / 'town').root}"


def _beads_tables(folder: Path) -> str:
    return f"beads:{gas_town(folder / 'town', 'tables').root}"


SAMPLES: dict[str, Make] = {
    "haak": _haak,
    "amendment": _amended,
    "channels": _copied("channels", "channels"),
    "claude-teams": _copied("claude-teams", "claude-teams"),
    "claude-transcripts": _transcripts,
    "omo": _copied("omo", "omo"),
    "agenties": _copied("agenties", "agenties"),
    "agentazall": _copied("agentazall", "agentazall", "data"),
    "agent-mail": _copied("agent-mail", "agent-mail"),
    "neo": _neo,
    "hcom": _hcom,
    "beads": _beads,
    "beads-tables": _beads_tables,
    "mapped-rows": _rows,
    "mapped-events": _events,
    "mapped-files": _spool,
    "mapped-lines": _lines,
}
