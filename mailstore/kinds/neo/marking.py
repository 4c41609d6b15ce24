"""Mark the user's own mail in a graph as read (docs/formats/neo.md#writing)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from mailstore.errors import MailboxBusy, StoreError, Unsupported
from mailstore.files.append import refusal
from mailstore.files.database import limit_work
from mailstore.kinds.neo import graph as ask
from mailstore.kinds.neo.decode import MESSAGE
from mailstore.kinds.neo.names import People, spellings
from mailstore.kinds.neo.places import NeoPlaces
from mailstore.kit.tables import look_before_writing
from mailstore.kit.timestamps import isoformat
from mailstore.records.protocol import USER_NAMES

WAIT_SECONDS = 5.0
MARK = (
    "UPDATE Nodes SET data = json_set(data, '$.properties.readAt', ?) WHERE id = ? AND json_valid(data) "
    "AND json_extract(data, '$.label') = 'MESSAGE' AND json_extract(data, '$.properties.readAt') IS NULL "
    "AND EXISTS (SELECT 1 FROM Edges WHERE source = Nodes.id AND type = 'SENT_TO' AND target IN ({marks})) "
    "AND NOT EXISTS (SELECT 1 FROM Edges WHERE source = Nodes.id AND type = 'SENT_TO' AND target NOT IN ({marks}))"
)


def write_reads(places: NeoPlaces, reader: str, message_ids: Sequence[str]) -> int:
    """Mark messages to the user alone as read; return how many were unread.

    Broadcasts are skipped: a mark on the node would hold for everybody. Raises Unsupported for any other reader.
    """
    people = look_before_writing(places.database, _people)
    names = {name for person in people.names for name in spellings(person)}
    if reader not in (*USER_NAMES, *names):
        raise Unsupported(f"mail of {reader} can't be marked read", "each recipient marks its own mail", "E526")
    if not names or not message_ids:
        return 0
    sql = MARK.format(marks=",".join("?" * len(names)))
    now = isoformat(time.time())
    try:
        with closing(_writing(places.database)) as graph:
            graph.execute("BEGIN IMMEDIATE")
            count = sum(
                graph.execute(sql, (now, f"{MESSAGE}{message_id}", *names, *names)).rowcount
                for message_id in dict.fromkeys(message_ids)
            )
            graph.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise MailboxBusy(f"{places.database} is locked by the Memory Core", "try again", "E529") from error
        raise StoreError(f"{places.database} can't be written", f"{error}; nothing was written", "E528") from error
    except sqlite3.Error as error:
        raise StoreError(f"{places.database} can't be written", f"{error}; nothing was written", "E528") from error
    except OSError as error:
        raise refusal(places.database, error) from error
    return count


def _writing(path: Path) -> sqlite3.Connection:
    graph = sqlite3.connect(
        f"file:{quote(bytes(path.absolute()))}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
    )
    limit_work(graph, path)
    return graph


def _people(graph: sqlite3.Connection) -> People:
    known = ask.known_identities(ask.identities(graph))
    return People(frozenset(name for name, node in known if node.properties.accountType == "human"))
