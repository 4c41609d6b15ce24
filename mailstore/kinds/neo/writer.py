"""Append a message to the log that the Memory Core reads, under its lock; mark mail as read (docs/formats/neo.md)."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from mailstore.errors import DraftRefused, MailboxBusy, StoreError, Unsupported
from mailstore.files.append import append_line, refusal
from mailstore.files.database import limit_work
from mailstore.files.folder import path_stamp
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import open_regular
from mailstore.kinds.neo import graph as ask
from mailstore.kinds.neo.decode import MESSAGE, Links, queued_events
from mailstore.kinds.neo.places import NeoPlaces
from mailstore.kinds.neo.queue import PROJECTION
from mailstore.kinds.neo.records import EVERYBODY, People, identity, login, queued_of, spellings
from mailstore.kit.bodies import first_line
from mailstore.kit.lock_files import is_running, read_lock, release, removed, taken
from mailstore.kit.tables import look_before_writing, text_of
from mailstore.kit.timestamps import isoformat
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

PATIENCE_SECONDS = 5.0
STALE_SECONDS = 2.0
PAUSE_SECONDS = 0.015
PASSING = ("role:", "human:")
"""Prefixes of addresses that the program accepts unchanged."""
WAIT_SECONDS = 5.0
MARK = (
    "UPDATE Nodes SET data = json_set(data, '$.properties.readAt', ?) WHERE id = ? AND json_valid(data) "
    "AND json_extract(data, '$.label') = 'MESSAGE' AND json_extract(data, '$.properties.readAt') IS NULL "
    "AND EXISTS (SELECT 1 FROM Edges WHERE source = Nodes.id AND type = 'SENT_TO' AND target IN ({marks})) "
    "AND NOT EXISTS (SELECT 1 FROM Edges WHERE source = Nodes.id AND type = 'SENT_TO' AND target NOT IN ({marks}))"
)


@contextmanager
def append_locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file: a file beside it, created exclusively.

    A lock whose holder is gone, or which is older than 2 s, is removed. Raises MailboxBusy and StoreError.
    """
    lock = path.with_name(f"{path.name}.lock")
    busy = MailboxBusy(f"{path} is locked by the Memory Core", f"try again, or check who holds {lock.name}", "E525")
    token = taken(lambda: _claimed(lock), lambda: _reclaimed(lock), busy, seconds=PATIENCE_SECONDS, pause=PAUSE_SECONDS)
    try:
        yield
    finally:
        release(lock, token)


def _claimed(lock: Path) -> bytes:
    """Create the lock file; return its contents, or nothing if another process holds it."""
    token = msgspec.json.encode({"pid": os.getpid(), "startedAt": time.time_ns() // 1_000_000})
    try:
        fd = open_regular(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return b""
    except OSError as error:
        raise refusal(lock, error) from error
    try:
        os.write(fd, token)
    finally:
        os.close(fd)
    return token


def _reclaimed(lock: Path) -> bool:
    """Remove an abandoned lock, but not one created meanwhile; return whether it is gone."""
    seen = read_lock(lock)
    if seen is None:
        return not os.path.lexists(lock)
    if not (_is_stale(seen) if seen else _is_old(lock)) or read_lock(lock) != seen:
        return False
    return removed(lock.unlink)


def _is_old(lock: Path) -> bool:
    """Return whether an empty lock is so old that its creator will not write to it any more."""
    stamp = path_stamp(lock)
    return stamp is not None and time.time() - stamp.changed / 1e9 > STALE_SECONDS


def _is_stale(data: bytes) -> bool:
    try:
        holder = msgspec.json.decode(data, type=dict[str, float])
        pid, started = int(holder["pid"]), holder["startedAt"]
    except (ValueError, KeyError, OverflowError, RecursionError):
        return True
    return time.time() - started / 1000 > STALE_SECONDS or not is_running(pid)


class _Who(NamedTuple):
    """The identities of a graph, people among them, the recipients of broadcasts, and who has blocked whom."""

    names: frozenset[str]
    people: People
    agents: tuple[str, ...]
    blocked: frozenset[tuple[str, str]]


def write_message(places: NeoPlaces, draft: Draft) -> Message:
    """Append a message from the user; return it as it will be read. Raises DraftRefused and StoreError."""
    who = look_before_writing(places.database, lambda graph: _who(graph, draft))
    sender = person_of(who.people)
    if draft.sender not in (*USER_NAMES, sender, login(sender)):
        raise DraftRefused("from", f"{draft.sender!r} is not the user", f"only {sender} can send from here", "E532")
    now = datetime.now(UTC)
    record = _record(draft, sender, _target(draft.recipients[0], sender, who), who, now)
    line = msgspec.json.encode(record)
    assert places.log is not None
    path = places.log / f"message-wal-{now:%Y-%m-%d}.jsonl"
    try:
        for folder in (places.log.parent, places.log):
            make_folder(folder, look_of(places.database))
    except OSError as error:
        raise refusal(path, error) from error
    with append_locked(path):
        append_line(path, line, look_of(places.database))
    [message] = [
        event
        for event in queued_events(queued_of(line), Links(), places.database.name).events
        if isinstance(event, Message)
    ]
    return message


def person_of(people: People) -> str:
    """Return the user's identity as sender. Raises DraftRefused if it is ambiguous."""
    if people.only:
        return people.only
    if names := ", ".join(sorted(people.names)):
        raise DraftRefused(
            "from",
            f"could be any of {names}",
            "set the account type of one of them alone to human in the Memory Core",
            "E530",
        )
    raise DraftRefused(
        "from",
        "has no identity, as the graph has no human",
        "set the account type of one identity to human in the Memory Core",
        "E531",
    )


def _who(graph: sqlite3.Connection, draft: Draft) -> _Who:
    names, people, agents = set(), set(), []
    for node_id, node in ask.known_identities(ask.identities(graph)):
        kind = node.properties.accountType
        names.add(identity(node_id))
        if kind == "human":
            people.add(identity(node_id))
        elif kind == "agent" or (node.label == "AGENT" and kind != "sentinel"):
            agents.append(node_id)
    if draft.thread is not None and not ask.known(graph, [f"{MESSAGE}{draft.thread}"]):
        raise DraftRefused(
            "thread", f"{draft.thread!r} is not in the graph", "reply once it is no longer queued", "E533"
        )
    blocks = graph.execute("SELECT DISTINCT source, target FROM Edges WHERE type = 'BLOCKED_BY'")
    blocked = frozenset((text_of(source), text_of(target)) for source, target in blocks)
    starred = sorted(name for name in agents if name.startswith("@"))
    return _Who(frozenset(names), People(frozenset(people)), tuple(starred), blocked)


def _target(text: str, sender: str, who: _Who) -> str:
    """Return a recipient in the program's form. Raises DraftRefused for an unknown one."""
    if text in BROADCAST_NAMES:
        return EVERYBODY
    name = sender if text in USER_NAMES or text == "@me" else identity(text)
    if name not in who.names and not name.startswith(PASSING):
        known = ", ".join(sorted(who.names))
        raise DraftRefused("to", f"{text!r} is not an identity in this graph", f"use one of {known}, or all", "E534")
    if (sender, name) in who.blocked:
        raise DraftRefused("to", f"{name} has blocked messages from {sender}", "it must unblock them first", "E535")
    return name


def _record(draft: Draft, sender: str, to: str, who: _Who, now: datetime) -> dict[str, object]:
    message_id = f"{MESSAGE}{uuid.uuid4()}"
    moment = isoformat(now.timestamp())
    subject = draft.subject or first_line(draft.content)
    answered = f"{MESSAGE}{draft.thread}" if draft.thread is not None else None
    properties: dict[str, object] = {
        "subject": subject,
        "bodyText": draft.content,
        "priority": "normal",
        "sentAt": moment,
        "readAt": None,
        "from": sender,
        "to": to,
        "inReplyTo": answered,
        "partOfThread": None,
        "taggedConcepts": [],
        "wakeSuppressed": False,
        "userId": login(sender),
        "sharedEntity": True,
    }
    return {
        "id": message_id,
        "timestamp": int(now.timestamp() * 1000),
        "sentAt": moment,
        "graphProjectionVersion": PROJECTION,
        "message": {"id": message_id, "type": "MESSAGE", "name": subject, "properties": properties},
        "routing": {
            "sentBy": sender,
            "to": to,
            "preNormalizeTo": draft.recipients[0],
            "postNormalizeTo": to,
            "senderUserId": login(sender),
            "broadcastRecipients": [name for name in who.agents if name != sender] if to == EVERYBODY else [],
        },
        "optionalEdges": {
            "originSessionId": None,
            "inReplyTo": answered,
            "partOfThread": None,
            "relatedSessions": [],
            "relatedTickets": [],
            "taggedConcepts": [],
        },
        "segmentKey": f"{now:%Y-%m-%d}",
    }


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
