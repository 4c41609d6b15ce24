"""Mailboxes written by hand, line by line, as other programs leave them: the start of every test.

Times are given in seconds before `now`. Two dialects: the protocol's table (`sender`, `content`, …) and
its amendment (`from`, `body`, …), which differ in the names of the fields and of the agents' states.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Dialect = Literal["table", "amendment"]
DIALECTS: tuple[Dialect, ...] = ("table", "amendment")
HOUR = 3600.0
DAY = 24 * HOUR
LEAF_OF_AN_INDEX = 10
NOW = datetime(2026, 3, 16, 14, 30, tzinfo=UTC).timestamp()

AMENDED = {
    "sender": "from",
    "recipient": "to",
    "timestamp": "ts",
    "content": "body",
    "thread": "in_reply_to",
    "ttl_hours": "ttl",
    "message_id": "messageid",
    "reader_session_id": "readersession_id",
    "status": "state",
    "started_at": "registered",
}
STATES = {"living": "live", "frozen": "frozen", "dead": "dead"}


def iso(seconds: float) -> str:
    """Return a moment as the protocol writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class MailFiles:
    """The files of one mailbox under `folder`/data, appended to a line at a time."""

    def __init__(self, folder: Path, *, dialect: Dialect = "table", now: float = NOW) -> None:
        self.data = folder / "data"
        self.data.mkdir(parents=True, exist_ok=True)
        self.dialect = dialect
        self.now = now
        self.mailbox.touch()

    @property
    def mailbox(self) -> Path:
        """Return the file of messages."""
        return self.data / "agent-mailbox.jsonl"

    @property
    def reads(self) -> Path:
        """Return the file of read records."""
        return self.data / "agent-mailbox-reads.jsonl"

    @property
    def roster(self) -> Path:
        """Return the file of agents."""
        return self.data / "agent-roster.jsonl"

    @property
    def url(self) -> str:
        """Return what `--store` takes."""
        return f"haak:{self.data}"

    def message(
        self,
        message_id: str,
        sender: str,
        recipient: str | Sequence[str],
        content: str = "The text of the message.",
        *,
        ago: float = HOUR,
        archived: bool = False,
        **more: Any,
    ) -> str:
        """Append a message and return its id; `more` are fields by the table's names."""
        record: dict[str, Any] = {
            "id": message_id,
            "sender": sender,
            "recipient": recipient if isinstance(recipient, str) else list(recipient),
            "timestamp": iso(self.now - ago),
            "content": content,
            **more,
        }
        if self.dialect == "table":
            record = {"thread": None, "ttl_hours": None, "read_by": [], **record}
        file = self.mailbox
        if archived:
            file = self.data / "agent-mailbox-archive" / f"{record['timestamp'][:7]}.jsonl"
            file.parent.mkdir(exist_ok=True)
        self._append(file, record)
        return message_id

    def read(self, message_id: str, reader: str, *, ago: float = 0.0) -> None:
        """Append a read record."""
        record = {"message_id": message_id, "reader_session_id": reader, "timestamp": iso(self.now - ago)}
        self._append(self.reads, record)

    def delivery(self, message_id: str, recipient: str, *, ago: float = 0.0) -> None:
        """Append a delivery record, which only this program writes: it has one dialect."""
        record = {"message_id": message_id, "recipient": recipient, "timestamp": iso(self.now - ago)}
        self.line(record, self.data / "agent-mailbox-deliveries.jsonl")

    def agent(
        self,
        session_id: str,
        status: str = "living",
        *,
        role: str = "",
        tags: Sequence[str] = (),
        **more: Any,
    ) -> None:
        """Append an agent to the roster; `more` are fields by the table's names, times as ISO 8601."""
        state = STATES[status] if self.dialect == "amendment" else status
        record = {"session_id": session_id, "status": state, "role": role or None, "tags": list(tags), **more}
        self._append(self.roster, record)

    def intervention(self, action: str, message_id: str, *, ago: float = 0.0, **details: Any) -> None:
        """Append a line to the oversight journal, which only this program writes."""
        record = {
            "id": f"{action}-{message_id}",
            "actor": "user",
            "action": action,
            "message_id": message_id,
            "timestamp": iso(self.now - ago),
            "details": details,
        }
        self.line(record, self.data / "agent-mailbox-oversight.jsonl")

    def _append(self, file: Path, record: dict[str, Any]) -> None:
        if self.dialect == "amendment":
            record = {AMENDED.get(key, key): value for key, value in record.items()}
        self.line(record, file)

    def line(self, record: dict[str, Any] | bytes, file: Path | None = None) -> None:
        """Append one line: a record as it stands, or raw bytes with no newline added."""
        with (file or self.mailbox).open("ab") as out:
            out.write(record if isinstance(record, bytes) else json.dumps(record).encode() + b"\n")


def every_case(
    folder: Path, now: float = NOW, dialect: Dialect = "table"
) -> tuple[MailFiles, dict[str, dict[str, str]]]:
    """Write every state for every kind of address; return the files and each message's states by name."""
    mail = MailFiles(folder, dialect=dialect, now=now)
    long_ago, since = iso(now - 90 * DAY), iso(now - 10 * DAY)
    mail.agent("steward-0001", role="steward", started_at=long_ago, last_seen=iso(now - 60))
    mail.agent("ann-00000001", tags=["project:ink"], started_at=long_ago, last_seen=iso(now - 60))
    mail.agent("bob-00000001", role="architect", tags=["concern:rules"], started_at=long_ago)
    mail.agent("fro-00000001", "frozen", role="night", tags=["project:ink"], started_at=long_ago, updated=since)
    mail.agent(
        "ded-00000001",
        "dead",
        role="lamp",
        tags=["project:ink"],
        started_at=long_ago,
        ended_at=iso(now - HOUR),
    )
    mail.agent("old-00000001", "dead", tags=["project:ink"], started_at=long_ago, ended_at=iso(now - 30 * DAY))
    expected: dict[str, dict[str, str]] = {}

    def case(message_id: str, recipient: str | list[str], ago: float, states: dict[str, str], **more: Any) -> None:
        more.setdefault("content", f"The text of {message_id}.")
        mail.message(message_id, "steward-0001", recipient, ago=ago, **more)
        expected[message_id] = states

    ann, bob, fro, ded = "ann-00000001", "bob-00000001", "fro-00000001", "ded-00000001"
    half, two, five = HOUR / 2, 2 * HOUR, 5 * HOUR

    case("direct-unread", ann, half, {ann: "unread"})
    case("direct-read", ann, two, {ann: "read"})
    case("direct-expired", ann, 25 * HOUR, {ann: "expired"})
    case("direct-short", ann, two, {ann: "expired"}, ttl_hours=1)
    case("direct-long", ann, 30 * HOUR, {ann: "unread"}, ttl_hours=48)
    case("direct-read-late", ann, 40 * HOUR, {ann: "read"})
    case("direct-prefix", "ann-0000", half, {ann: "unread"})
    case("direct-frozen", fro, half, {fro: "frozen"})
    case("direct-frozen-old", fro, 40 * HOUR, {fro: "frozen"})
    case("direct-dead", ded, two, {ded: "dead"})
    case("direct-dead-read", ded, two, {ded: "read"})
    case("direct-after-death", ded, half, {ded: "dead"})
    case("direct-settled", ded, two, {ded: "dead"})
    case("name-unknown", "nobody", half, {"nobody": "unknown"})
    case("role-unknown", "role:phantom", half, {"phantom": "unknown"})
    case("literal", "signal:+351000000", half, {"signal:+351000000": "unknown"})
    case("role-unread", "architect", 90 * HOUR, {"architect": "unread"})
    case("role-tagged", "role:architect", half, {"architect": "unread"})
    case("role-read", "architect", half, {"architect": "read"})
    case("role-waiting", "lamp", 90 * HOUR, {"lamp": "waiting"})
    case("role-frozen", "night", half, {"night": "frozen"})
    case("role-expired", "architect", two, {"architect": "expired"}, ttl_hours=1)
    case("all-unread", "all", half, {ann: "unread", bob: "unread"})
    case("all-read-by-one", "all", half, {ann: "read", bob: "unread"})
    case("all-expired", "all", five, {ann: "expired", bob: "expired", ded: "dead"})
    case("tag-unread", "project:ink", half, {ann: "unread", fro: "frozen"})
    case("tag-with-dead", "project:ink", two, {ann: "unread", fro: "frozen", ded: "dead"})
    case("tag-union", ["project:ink", "concern:rules"], half, {ann: "unread", fro: "frozen", bob: "unread"})
    case("tag-read", "concern:rules", half, {bob: "read"})
    case("tag-short", "project:ink", two, {ann: "expired", fro: "frozen", ded: "dead"}, ttl_hours=1)
    case("tag-nobody", "domain:empty", half, {})
    case("user-unread", "user", 90 * HOUR, {"user": "unread"}, type="question")
    case("user-read", "user", half, {"user": "read"})
    case("user-expired", "user", two, {"user": "expired"}, ttl_hours=1)
    case("mention", bob, half, {bob: "unread", ann: "unread"}, content="And @ann-00000001 should know.")
    case("delivered", "domain:empty", half, {ann: "unread"})
    mail.delivery("delivered", ann, ago=half)
    case("inline-read", ann, half, {ann: "read"}, read_by=[ann])

    mail.read("direct-read", ann, ago=HOUR)
    mail.read("direct-read-late", ann, ago=HOUR)
    mail.read("direct-dead-read", ded, ago=1.5 * HOUR)
    mail.read("role-read", bob)
    mail.read("all-read-by-one", ann)
    mail.read("tag-read", bob)
    mail.read("user-read", "user")
    mail.intervention("acknowledge", "direct-settled", recipient=ded)
    return mail, expected


def tangled(folder: Path, now: float = NOW, dialect: Dialect = "table") -> MailFiles:
    """Write a thread with branches, a lost parent, an archived one, and a ring of replies."""
    mail = MailFiles(folder, dialect=dialect, now=now)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    ann, bob = "ann-00000001", "bob-00000001"
    mail.message("root", ann, bob, "Which colour?", ago=500, subject="The colour")
    mail.message("late", bob, ann, "Blue, then.", ago=100, thread="root")
    mail.message("early", bob, ann, "Red.", ago=400, thread="root")
    mail.message("deep", ann, bob, "Why red?", ago=300, thread="early")
    mail.message("lost-child", ann, bob, "As I said.", ago=200, thread="nowhere")
    mail.message("ring-1", ann, bob, "One.", ago=90, thread="ring-3")
    mail.message("ring-2", bob, ann, "Two.", ago=80, thread="ring-1")
    mail.message("ring-3", ann, bob, "Three.", ago=70, thread="ring-2")
    mail.message("old-root", ann, bob, "Long ago.", ago=60 * DAY, archived=True)
    mail.message("old-reply", bob, ann, "Not forgotten.", ago=60, thread="old-root")
    return mail


def damaged(folder: Path, now: float = NOW, dialect: Dialect = "table") -> MailFiles:
    """Write four good messages (`good-1` to `good-4`) among lines damaged in every way, and a torn tail."""
    mail = MailFiles(folder, dialect=dialect, now=now)
    mail.agent("ann-00000001")
    mail.message("good-1", "bob-00000001", "ann-00000001", "One.", ago=400)
    mail.line(b"this is no record\n")
    mail.line(b'{"id": "cut", "sender": "bob\n')
    mail.line(b"[1, 2, 3]\n")
    mail.line(b"\n")
    mail.message("good-2", "bob-00000001", "ann-00000001", "Two.", ago=300)
    mail.line(b"\x00" * 64 + b"\n")
    mail.line(b'{"id": "bytes", "sender": "\xff\xfe"\n')
    mail.line(json.dumps({"id": "no-sender", "content": "x"}).encode() + b"\n")
    _glued(mail)
    mail.line(b'{"id": "torn", "sender": "bob-00000001", "recip')
    return mail


def _glued(mail: MailFiles) -> None:
    for message_id in ("good-3", "good-4"):
        mail.message(message_id, "bob-00000001", "ann-00000001", "Glued.", ago=200)
    lines = mail.mailbox.read_bytes().split(b"\n")
    mail.mailbox.write_bytes(b"\n".join(lines[:-3]) + b"\n" + lines[-3] + lines[-2] + b"\n")


def damage_page(path: Path, holds: bytes, lacks: bytes = b"\0" * 4096) -> None:
    """Overwrite one of the pages of an SQLite file in which an index, or a table without row ids, holds some bytes.

    See the file format of SQLite, 1.3 (the size of a page) and 1.6 (its kind).
    """
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    leaves = [at for at in range(0, len(data), size) if data[at] == LEAF_OF_AN_INDEX]
    pages = [at for at in leaves if holds in (page := data[at : at + size]) and lacks not in page]
    assert len(pages) > 4
    with path.open("r+b") as file:
        file.seek(pages[len(pages) // 2])
        file.write(b"\xff" * size)
