"""Mailboxes of every shape at random: lines for each file, made from a seed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

NOW = datetime(2026, 3, 16, 14, 30, tzinfo=UTC).timestamp()
HOUR = 3600.0

MAILBOX, READS, DELIVERIES = "agent-mailbox.jsonl", "agent-mailbox-reads.jsonl", "agent-mailbox-deliveries.jsonl"
ROSTER, DOCUMENT, JOURNAL = "agent-roster.jsonl", "agent-roster.json", "agent-mailbox-oversight.jsonl"
ARCHIVE = "agent-mailbox-archive"

SESSIONS = ["ann-00000001", "ann-00000002", "bob-00000001", "cid-00000001", "clerk", "dora"]
ROLES = ["clerk", "scribe", "ann-00000001", "lamp"]
TAGS = ["project:ink", "concern:rules", "domain:ink", "role:scribe", "role:lamp", "role:night"]
AGENT_NAMES = ["Ann", "Bob", "clerk", "scribe"]
PERSON = ["user", "human", "person:me", "person:morgan"]
STRANGERS = [
    "zed-00000001",
    "nobody",
    "signal:+351000000",
    "agent:none",
    "role:phantom",
    "project:",
    "role:",
    "mailto:x",
]
ADDRESSES = [
    *SESSIONS, *ROLES, "role:clerk", "role:scribe", "role:dora", "role:night", "agent:dora", "agent:bob-00000001",
    "agent:bob-0000",
    *TAGS[:3], "project:none", "all", "broadcast", "AGENT:*", *PERSON[:3], *AGENT_NAMES, "ann-0000", "bob-0000",
    "bob-000", "cid-00000001 ",
    *STRANGERS, "project:ink,concern:rules", "project:ink, role:scribe", "ann-00000001,bob-00000001",
    "project:ink,dora",
]  # fmt: skip
USUAL = ["all", "project:ink", "concern:rules", "clerk", "scribe", "role:scribe", "user"]
MENTIONS = [
    "ann-00000001",
    "bob-0000",
    "clerk",
    "scribe",
    "user",
    "human",
    "all",
    "project:ink",
    "role:lamp",
    "Bob",
    "nobody",
    "agent:dora",
]
TTLS = [
    1,
    2.5,
    30,
    48,
    0,
    -1,
    "3",
    "x",
    "",
    True,
    [],
    [4],
    {},
    1e9,
    10**10,
    1e300,
    10**400,
    float("nan"),
    float("inf"),
    1e-9,
    None,
]
UNLIVING = ["frozen", "frozen", "dead"]
TEXTS = [
    "The text.", "The text.\nMore of it.", 'He said "so": {"to": "x"} \\u0040',
    "", "  \n The second line.", "é€ 🙂",
]  # fmt: skip
ACTIVITIES = ["working: leaf 1", "working: leaf 2", "idle", "waiting", "offline", "ink"]
OLD, NEW = (
    {},
    {
        "sender": "from", "recipient": "to", "timestamp": "ts", "content": "body", "thread": "in_reply_to",
        "ttl_hours": "ttl",
        "message_id": "messageid", "reader_session_id": "readersession_id", "status": "state",
        "started_at": "registered",
    },
)  # fmt: skip
OTHER = {
    "sender": "from_agent", "content": "text", "timestamp": "time", "thread": "reply_to", "message_id": "id",
    "reader_session_id": "by",
    "session_id": "id", "ended_at": "died_at", "updated": "last_updated",
}  # fmt: skip


@dataclass
class Made:
    """The lines of a mailbox's files, each without its newline, and the moments at which to look."""

    seed: int
    files: dict[str, list[bytes]] = field(default_factory=dict)
    past: float = NOW - 5 * HOUR
    cut: float = 0.5
    """What share of each file's lines is there at first, where the mailbox grows."""


def write(folder: Path, files: dict[str, list[bytes]]) -> None:
    """Write or append lines to the files of a mailbox."""
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = b"\n".join(lines) if name == DOCUMENT else b"".join(line + b"\n" for line in lines)
        if name.endswith(".gz"):
            data = gzip.compress(data)
        with path.open("ab") as file:
            file.write(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MAILBOX).touch()


def made(seed: int) -> Made:
    """Make the mailbox of a seed."""
    return Maker(seed).made()


class Maker:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        chance = self.random.random
        self.size = self.random.choice([2, 4, 8, 16, 40])
        self.is_plain = chance() < 0.4
        """Lines that a mailbox in use has: one dialect, good times, nothing odd; the fast ways take only those."""
        self.is_calm = self.is_plain and chance() < 0.6
        """Everybody lives and keeps their roles: what a look at one agent's mail needs."""
        self.dialect = self.random.choice([OLD, OLD, NEW])
        self.oddness = 0.0 if self.is_plain else self.random.choice([0.02, 0.1, 0.3])
        self.steps = self.random.choice([1, 4, 12])
        self.sessions = self.some(SESSIONS, 1, 5)
        self.addresses = [*self.some(ADDRESSES, 1, 5), *self.some([*self.sessions, *USUAL], 1, 5)]
        self.senders = [
            *self.some([*self.sessions, *SESSIONS[:2]], 1, 3),
            *self.some([*PERSON, "zed-00000001", "scribe"], 0, 1),
        ]
        self.readers = [
            *self.some([*self.sessions, *SESSIONS], 1, 4),
            *self.some([*PERSON, "clerk", "zed-00000001", "ann-0000"], 0, 2),
        ]
        self.ids = [f"m{number}" for number in range(self.size)]
        self.with_ttl = self.random.choice([0.0, 0.3, 0.8])
        self.with_thread = self.random.choice([0.0, 0.3, 0.8])
        self.with_questions = 0.3
        if not self.is_calm and self.happens(0.2):
            self.ask()
        self.with_mentions = self.random.choice([0.0, 0.0, 0.4])
        self.heads: list[dict[str, Any]] = []

    def ask(self) -> None:
        """Let agents ask roles and answer, while these change hands."""
        self.with_questions, self.with_thread = 0.8, 0.8
        self.addresses = self.some(["clerk", "scribe", "role:scribe", *self.sessions[:1]], 1, 3)
        self.senders = [*self.sessions, *PERSON[:1]]

    def some(self, every: Sequence[Any], least: int, most: int) -> list[Any]:
        return self.random.sample(list(dict.fromkeys(every)), min(len(set(every)), self.random.randint(least, most)))

    def happens(self, share: float) -> bool:
        return self.random.random() < share

    def is_odd(self) -> bool:
        return self.happens(self.oddness)

    def time(self) -> float:
        """Return a moment on a coarse grid, so that moments meet."""
        ago = self.random.choice([0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 23, 24, 25, 30, 47, 48, 49, 72, 200])
        return NOW - ago * HOUR + self.random.choice([0, 0, 0, 1, -1, 60])

    def stamp(self, time: float | None = None) -> Any:
        moment = self.time() if time is None else time
        when = datetime.fromtimestamp(moment, UTC)
        text = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        if not self.is_odd():
            return text
        return self.random.choice(
            [
                text.lower(), text[:-1], text.replace("Z", "+00:00"), when.strftime("%Y-%m-%d"), int(moment),
                moment + 0.25, int(moment * 1000),
                str(int(moment)), f" {text} ", text.replace("Z", ".250Z"), "soon", "", None, True, 10**30, [],
                "2026-02-30T00:00:00Z",
            ]
        )  # fmt: skip

    def line(self, record: dict[str, Any], dialect: dict[str, str] | None = None) -> bytes:
        names = self.dialect if dialect is None else dialect
        if self.is_odd():
            names = {**names, **dict(self.random.sample(sorted(OTHER.items()), 2))}
        renamed = {names.get(key, key): value for key, value in record.items()}
        if self.is_odd():
            renamed["from" if "sender" in renamed else "metadata"] = self.random.choice(
                ["ann-00000001", {"to": "dora"}, None]
            )
        separators = (",", ":") if self.happens(0.5) else (", ", ": ")
        is_ascii = self.is_plain or self.happens(0.7)
        data = json.dumps(renamed, separators=separators, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
        if self.is_odd():
            data = data.replace(b"ann", b"\\u0061nn", 1)
        return data

    def damaged(self, lines: list[bytes]) -> list[bytes]:
        """Spoil some lines in the ways in which files are spoiled."""
        found: list[bytes] = []
        for line in lines:
            if not self.is_odd():
                found.append(line)
                continue
            other = self.random.choice(lines)
            found += self.random.choice(
                [
                    [line + other], [line[: len(line) // 2] + other], [line[: self.random.randrange(len(line))]],
                    [b"no record", line], [b"", line],
                    [line, b"[1, 2]"], [b"\x00" * 5, line], [b"\x00\x00" + line], [b"\xef\xbb\xbf" + line],
                    [line + b"\r"],
                    [line.replace(b"The", b"Th\xff", 1)], [line, line], [line.replace(b"The", b"Th\x01", 1)],
                    [b'{"id": "x"}', line], [line, b"7"],
                    [line + b"," + other], [line + b"{"],
                ]
            )  # fmt: skip
        return found

    def made(self) -> Made:
        files: dict[str, list[bytes]] = {MAILBOX: self.damaged([self.message(number) for number in range(self.size)])}
        archived = self.some(range(self.size), 0, 4) if self.happens(0.3) else []
        for number in archived:
            name = self.random.choice(["2026-02.jsonl", "2026-03.jsonl", "2026-01.jsonl.gz"])
            line = self.message(number, is_archived=True)
            files.setdefault(f"{ARCHIVE}/{name}", []).append(line)
        ids = [*self.ids, *(f"a{number}" for number in archived), "never"]
        reads = [self.read(ids) for _ in range(self.random.choice([0, 1, self.size // 2, self.size * 2]))]
        files[READS] = self.damaged(reads) if reads else []
        if self.happens(0.4):
            files[DELIVERIES] = [self.delivery(ids) for _ in range(self.random.randint(1, self.size))]
        if self.happens(0.4):
            files[JOURNAL] = self.journal(ids)
        self.roster(files)
        at = self.random.choice([1, 2, 4, 5, 6, 10, 24, 26, 60])
        return Made(
            self.seed, {name: lines for name, lines in files.items() if lines}, NOW - at * HOUR, self.random.random()
        )

    def message(self, number: int, *, is_archived: bool = False) -> bytes:
        if not self.heads or self.happens(0.5):
            self.heads.append(self.head())
        head = self.random.choice(self.heads)
        text = self.random.choice(TEXTS[:3] if self.is_calm else TEXTS)
        if self.happens(self.with_mentions):
            text = (
                f"The @{self.random.choice(MENTIONS)} and {self.random.choice('@(/x')}@{self.random.choice(MENTIONS)}."
            )
        record = {
            "id": f"a{number}" if is_archived else self.ids[number],
            **head,
            "timestamp": self.stamp(),
            "content": text,
        }
        if self.happens(self.with_thread):
            record["thread"] = self.random.choice([*self.ids[: self.steps * 3], *self.ids[:2], "gone", "lost", "a1"])
        if self.is_odd():
            record |= self.random.choice(
                [{"id": None}, {"id": number}, {"id": self.random.choice(self.ids)}, {"sender": 7}, {"content": None},
                {"recipient": []}, {"content": 5},
                 {"content": {"text": "The inner."}}, {"id": ""}, {"thread": record["id"]}, {"extra": [1]},
                 {"tags": ["x"]}, {"recipient": [7, None, "dora"]}]
            )  # fmt: skip
        return self.line(record)

    def head(self) -> dict[str, Any]:
        to: Any = self.random.choice(self.addresses)
        if self.happens(0.25):
            to = self.some(self.addresses, 1, 3)
        head: dict[str, Any] = {"sender": self.random.choice(self.senders), "recipient": to}
        if self.happens(self.with_ttl):
            head["ttl_hours"] = self.random.choice(TTLS[:4] if self.is_plain else TTLS)
        if self.happens(0.15):
            head["read_by"] = self.some(self.readers, 0, 2)
            if self.is_odd():
                head["read_by"] = self.random.choice(["ann-00000001, dora", [{"reader": "dora"}], {}, 5])
        if self.happens(0.4):
            head["subject"] = self.random.choice([None, "", " ", "A subject", "Another"])
        if self.happens(self.with_questions):
            head["type"] = self.random.choice(["question", "question", "answer", "status", 3])
            if self.happens(0.3):
                head["tags"] = self.some(["issue:1", "issue:2", "x"], 0, 2)
        return head

    def read(self, ids: list[str]) -> bytes:
        record = {
            "message_id": self.random.choice(ids),
            "reader_session_id": self.random.choice(self.readers),
            "timestamp": self.stamp(),
        }
        if self.is_odd():
            record |= self.random.choice(
                [{"message_id": None}, {"timestamp": None}, {"reader_session_id": ""}, {"reader_session_id": 7}]
            )
        return self.line(record)

    def delivery(self, ids: list[str]) -> bytes:
        name = self.random.choice([*self.readers, *self.sessions])
        return self.line({"message_id": self.random.choice(ids), "recipient": name, "timestamp": self.stamp()}, OLD)

    def journal(self, ids: list[str]) -> list[bytes]:
        deeds: list[dict[str, Any]] = []
        for number in range(self.random.randint(1, 6)):
            action = self.random.choice(["acknowledge", "redirect", "resend", "undo", "archive"])
            details: dict[str, Any] = (
                {"recipient": self.random.choice([*self.addresses, *self.sessions])} if self.happens(0.8) else {}
            )
            if action == "undo" and deeds:
                details = {"undoes": self.random.choice(deeds)["id"]}
            record = {
                "actor": "user",
                "action": action,
                "message_id": self.random.choice(ids),
                "timestamp": self.stamp(),
                "details": details,
            }
            deeds.append({"id": f"deed{number}", **record})
        return [self.line(deed, OLD) for deed in deeds]

    def agent(self, session: str) -> dict[str, Any]:
        status = self.random.choice(["living", "living", "living", *([] if self.is_calm else UNLIVING)])
        if self.is_odd():
            status = self.random.choice(["LIVE", "idle", "buried", "strange", "", None, 5])
        record: dict[str, Any] = {"session_id": session, "status": status}
        if self.happens(0.5):
            record["role"] = self.random.choice([*ROLES[1 : 2 if self.is_calm else None], None])
        if self.happens(0.5):
            record["tags"] = self.some(TAGS, 0, 3)
            if self.is_odd():
                record["tags"] = ", ".join(record["tags"])
        if self.happens(0.3):
            record["name"] = self.random.choice(AGENT_NAMES)
        if self.happens(0.5):
            record["activity"] = self.random.choice(ACTIVITIES)
        if self.happens(0.2):
            record["last_seen"] = self.stamp()
        if self.happens(0.4):
            record["started_at"] = self.stamp()
        if self.happens(0.1) and not self.is_calm:
            record["frozen_spells"] = [
                sorted([self.stamp(), self.stamp()], key=str) for _ in range(self.random.randint(1, 2))
            ]
            record["frozen_spells"][0][self.random.randrange(2)] = self.random.choice([None, self.stamp()])
        if status in ("dead", "buried") and self.happens(0.7):
            record["ended_at"] = self.stamp()
        return record

    def roster(self, files: dict[str, list[bytes]]) -> None:
        lines: list[tuple[float, bytes]] = []
        for session in self.sessions:
            record = self.agent(session)
            for time in sorted(self.time() for _ in range(1 if self.is_calm else self.random.choice([1, 1, 2, 4]))):
                change = self.agent(session)
                record = {
                    **record,
                    **{key: change[key] for key in self.some(sorted(change), 1, 3)},
                    "session_id": session,
                    "status": change["status"],
                }
                record.pop("updated", None)
                if self.happens(0.75):
                    record["updated"] = self.stamp(time)
                lines.append((time, self.line(record)))
        lines.sort(key=lambda one: one[0])
        if self.is_calm or self.happens(0.75):
            files[ROSTER] = self.damaged([line for _, line in lines])
        if ROSTER not in files or (self.happens(0.1) and not self.is_calm):
            entries = [json.loads(line) for line in dict(enumerate(line for _, line in lines)).values()]
            session = self.dialect.get("session_id", "session_id")
            last = {entry.get(session, entry.get("id")): entry for entry in entries}
            document: Any = [*last.values()]
            if self.happens(0.3):
                document = {
                    key: {name: value for name, value in entry.items() if name not in (session, "id")}
                    for key, entry in last.items()
                }
            if self.happens(0.3):
                document = {"agents": document}
            files[DOCUMENT] = [json.dumps(document).encode()]
