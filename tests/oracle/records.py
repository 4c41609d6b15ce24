"""The records of a mailbox, read from its files as `docs/semantics.md` says; nothing of the program is used."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NAMES = {
    "sender": "sender from from_agent",
    "recipient": "recipient to",
    "timestamp": "timestamp ts time date",
    "content": "content body text message",
    "thread": "thread in_reply_to reply_to",
    "ttl_hours": "ttl_hours ttl",
    "message_id": "message_id messageid msg_id id",
    "reader": "reader_session_id readersession_id reader session_id by",
    "delivered": "recipient recipient_session_id session_id to",
    "marked": "timestamp ts read_at",
    "session": "session_id session id",
    "status": "state status",
    "started": "started_at registered registered_at created_at",
    "ended": "ended_at died_at buried_at",
    "updated": "updated updated_at last_updated",
    "activity": "activity summary working_on",
    "seen": "last_seen heartbeat",
}
FROZEN = ["frozen", "idle", "sleeping", "suspended"]
DEAD = ["dead", "buried", "ended", "offline"]
MENTION = re.compile(r"(?<![\w@/.])@([A-Za-z0-9_][\w.:*-]*\w|\w)")
NAMESPACES = ("project:", "concern:", "domain:", "role:")


@dataclass(frozen=True)
class OracleMessage:
    """A message."""

    id: str
    sender: str
    recipients: list[str]
    stamp: str
    time: float
    is_timed: bool
    content: str
    subject: str
    parent: str
    ttl: float | None
    type: str
    tags: list[str]
    read_by: list[str]
    is_archived: bool
    place: tuple[str, int]


@dataclass(frozen=True)
class Mark:
    """A read or a delivery: which message, whose name, when."""

    message_id: str
    name: str
    time: float | None


@dataclass(frozen=True)
class AgentLine:
    """One line of a roster."""

    session: str
    name: str
    roles: list[str]
    tags: list[str]
    status: str
    started: float | None
    ended: float | None
    updated: float | None
    spells: list[tuple[float | None, float | None]]
    activity: str
    seen: float | None


@dataclass(frozen=True)
class Deed:
    """A line of the journal."""

    id: str
    action: str
    message_id: str
    details: dict[str, Any]
    time: float


@dataclass
class Box:
    """All that the files of a mailbox hold."""

    messages: list[OracleMessage] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    reads: list[Mark] = field(default_factory=list)
    deliveries: list[Mark] = field(default_factory=list)
    agents: dict[str, list[AgentLine]] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    unreadable: list[tuple[str, int]] = field(default_factory=list)


def read_box(folder: Path) -> Box:
    """Read the files of a mailbox."""
    box = Box()
    live = folder / "agent-mailbox.jsonl"
    months = sorted((folder / "agent-mailbox-archive").glob("*.jsonl*"), key=lambda path: path.name)
    known: dict[str, bool] = {}
    for path in [live, *months]:
        last = 0.0
        for offset, number, data, record in records(path, folder, box):
            message = message_of(record, data, last, path != live, ("" if path != live else "live") + path.name, offset)
            if message is None:
                box.unreadable.append((str(path.relative_to(folder)), number))
                continue
            last = message.time
            if message.id not in known:
                known[message.id] = message.is_archived
                box.messages.append(message)
            elif known[message.id] == message.is_archived:
                box.duplicates.append(message.id)
    for name, marks, who in (("reads", box.reads, "reader"), ("deliveries", box.deliveries, "delivered")):
        path = folder / f"agent-mailbox-{name}.jsonl"
        for _, number, _, record in records(path, folder, box):
            message_id, person = text(get(record, "message_id")), text(get(record, who))
            if message_id and person:
                marks.append(Mark(message_id, person, moment(get(record, "marked"))))
            else:
                box.unreadable.append((path.name, number))
    path = folder / "agent-mailbox-oversight.jsonl"
    for _, number, _, record in records(path, folder, box):
        if text(record.get("id")) and text(record.get("actor")) and text(record.get("action")):
            details = record.get("details")
            message_id = record.get("message_id")
            box.deeds.append(
                Deed(
                    str(record["id"]),
                    str(record["action"]),
                    "" if message_id is None else str(message_id),
                    details if isinstance(details, dict) else {},
                    moment(record.get("timestamp")) or 0.0,
                )
            )
        else:
            box.unreadable.append((path.name, number))
    read_rosters(folder, box)
    return box


def read_rosters(folder: Path, box: Box) -> None:
    """Read both rosters; where both know a session, only the lines count."""
    in_document: list[AgentLine] = []
    path = folder / "agent-roster.json"
    if path.exists() and path.read_bytes().strip():
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("agents"), (dict, list)):
            found = found["agents"]
        if isinstance(found, dict):
            found = [{"session_id": key, **each} for key, each in found.items() if isinstance(each, dict)]
        if not isinstance(found, list):
            box.unreadable.append((path.name, 1))
            found = []
        for each in found:
            if isinstance(each, dict):
                line = agent_of(each)
                if line is None:
                    box.unreadable.append((path.name, 1))
                else:
                    in_document.append(line)
    in_lines: list[AgentLine] = []
    path = folder / "agent-roster.jsonl"
    for _, number, _, record in records(path, folder, box):
        line = agent_of(record)
        if line is None:
            box.unreadable.append((path.name, number))
        else:
            in_lines.append(line)
    sessions = {line.session for line in in_lines}
    for line in [*(line for line in in_document if line.session not in sessions), *in_lines]:
        box.agents.setdefault(line.session, []).append(line)


def records(path: Path, folder: Path, box: Box) -> Iterator[tuple[int, int, bytes, dict[str, Any]]]:
    """Yield what the lines of a file hold: offset, line number, bytes, record; note what can't be read."""
    if not path.exists():
        return
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    offset = 0
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        found, is_damaged = objects(line)
        for at, part, value in found:
            if isinstance(value, dict):
                yield offset + at, number, part, value
            else:
                is_damaged = True
        if is_damaged:
            box.unreadable.append((str(path.relative_to(folder)), number))
        offset += len(line) + 1


def objects(line: bytes) -> tuple[list[tuple[int, bytes, Any]], bool]:
    """Return the JSON values on a line, and whether something on it can't be read."""
    bare = line.removeprefix(b"\xef\xbb\xbf").strip(b"\x00 \t\r")
    if not bare:
        return [], b"\x00" in line
    start = line.index(bare)
    try:
        value = json.loads(bare.decode("utf-8", "replace"), strict=False)
        return [(start, bare, value)], False
    except (ValueError, RecursionError):
        pass
    found, gaps, at = [], [b""], 0
    text_of_line = bare.decode("latin-1")
    while at < len(bare):
        if bare[at : at + 1] == b"{":
            try:
                _, end = json.JSONDecoder(strict=False).raw_decode(text_of_line, at)
            except (ValueError, RecursionError):
                end = 0
            if end and not re.match(rb'\s*(,\s*"|[}\]])', bare[end:]):
                part = bare[at:end]
                found.append((start + at, part, json.loads(part.decode("utf-8", "replace"), strict=False)))
                gaps.append(b"")
                at = end
                continue
        gaps[-1] += bare[at : at + 1]
        at += 1
    return found, not found or any(gap.strip(b"\x00 \t\r") not in (b"", b",") for gap in gaps)


def is_nothing(value: Any) -> bool:
    return value is None or value == "" or value == []


def get(record: dict[str, Any], what: str) -> Any:
    """Return the value of a field under the first of its names that has one."""
    return next((record[name] for name in NAMES[what].split() if not is_nothing(record.get(name))), None)


def text(value: Any) -> str:
    """Return an id or a name of a read, a delivery, an agent: a string, or an integer as one."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


def word(value: Any) -> str:
    """Return a name of a message's header: a string that is not blank, or a number as one."""
    if isinstance(value, str):
        return value if value.strip() else ""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def words(value: Any) -> list[str]:
    """Return the names in a list, or in a text with commas."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(name for part in parts if (name := word(part).strip())))


def moment(value: Any) -> float | None:
    """Return a time in seconds since 1970, None for what is none."""
    if isinstance(value, str):
        stamp = value.strip().upper()
        try:
            found = datetime.fromisoformat(stamp)
        except ValueError:
            return moment(float(stamp)) if stamp.isdecimal() and len(stamp) >= 9 else None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    seconds = value / 1000 if abs(value) >= 100_000_000_000 else value
    return float(seconds) if -62_135_596_800 <= seconds <= 253_402_300_799 else None


def hours(value: Any) -> float | None:
    """Return a TTL, None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except OverflowError:
        found = math.inf if int(value) > 0 else 0.0
    except ValueError:
        return None
    return found if found > 0 else None


def addresses(value: Any) -> list[str]:
    """Return the addresses of a message."""
    if isinstance(value, list):
        return list(dict.fromkeys(name for each in value if (name := word(each).strip())))
    name = word(value).strip()
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part.startswith(NAMESPACES) and part.partition(":")[2] for part in parts):
        return list(dict.fromkeys(parts))
    return [name] if name else []


def message_of(
    record: dict[str, Any], data: bytes, last: float, is_archived: bool, file: str, offset: int
) -> OracleMessage | None:
    """Return the message that a record is, None when it is none."""
    sender, recipients = word(get(record, "sender")), addresses(get(record, "recipient"))
    if not sender or not recipients or all(record.get(name) is None for name in NAMES["content"].split()):
        return None
    body = get(record, "content")
    if isinstance(body, dict) and isinstance(body.get("text"), str):
        body = body["text"]
    content = "" if body is None else body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))
    stamp = get(record, "timestamp")
    time = moment(stamp)
    subject = record.get("subject")
    if not isinstance(subject, str) or not subject.strip():
        first = content.lstrip()[:80]
        subject = first.splitlines()[0].rstrip() if first else ""
    readers = record.get("read_by")
    if isinstance(readers, list):
        readers = [get(each, "reader") if isinstance(each, dict) else each for each in readers]
    return OracleMessage(
        id=text(record.get("id")) or f"line:{hashlib.sha1(data).hexdigest()}",
        sender=sender,
        recipients=recipients,
        stamp="" if stamp is None else str(stamp),
        time=last if time is None else time,
        is_timed=time is not None,
        content=content,
        subject=subject,
        parent=word(get(record, "thread")),
        ttl=hours(get(record, "ttl_hours")),
        type=record["type"] if isinstance(record.get("type"), str) else "",
        tags=words(record.get("tags")),
        read_by=words(readers),
        is_archived=is_archived,
        place=(file, offset),
    )


def agent_of(record: dict[str, Any]) -> AgentLine | None:
    """Return the agent that an entry of a roster is, None when it is none."""
    session = text(get(record, "session"))
    if not session:
        return None
    said = str(get(record, "status")).strip().lower()
    status = "frozen" if said in FROZEN else "dead" if said in DEAD else "living"
    tags = words(record.get("tags"))
    roles = [word(record.get("role")), *(tag.removeprefix("role:") for tag in tags if tag.startswith("role:"))]
    told = record["frozen_spells"] if isinstance(record.get("frozen_spells"), list) else []
    updated, ended = moment(get(record, "updated")), moment(get(record, "ended"))
    return AgentLine(
        session=session,
        name=word(record.get("name")),
        roles=[role for role in roles if role],
        tags=tags,
        status=status,
        started=moment(get(record, "started")),
        ended=(updated if ended is None else ended) if status == "dead" else None,
        updated=updated,
        spells=[(moment(one[0]), moment(one[1])) for one in told if isinstance(one, list) and len(one) == 2],
        activity=word(get(record, "activity")),
        seen=moment(get(record, "seen")),
    )
