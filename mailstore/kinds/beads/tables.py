"""The tables of a Beads database in SQLite: issues, and wisps where the release has a table of them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Hashable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.database import database_stamp
from mailstore.kinds.beads.origins import IssueOrigin, PlacedIssue
from mailstore.kinds.beads.records import AGENT, CHANNEL, GROUP, MESSAGE, QUEUE, REPLY, issue_of
from mailstore.kit.tables import columns_in, look, look_or_gone, rows_of, tables_in
from mailstore.records.message import Location, Message, Problem

COLUMNS = (
    "id",
    "title",
    "description",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "sender",
    "created_by",
    "created_at",
    "updated_at",
    "closed_at",
    "ephemeral",
    "pinned",
    "agent_state",
)
LABELS = (MESSAGE, AGENT, CHANNEL, QUEUE, GROUP)
TYPES = ("message", "agent")
NEEDED = {"issues", "labels"}


class _Set(NamedTuple):
    """The tables of issues of one kind."""

    issues: str
    labels: str
    links: str


SETS = (_Set("issues", "labels", "dependencies"), _Set("wisps", "wisp_labels", "wisp_dependencies"))


class TablesOrigin(IssueOrigin):
    """The database of a release that keeps it in SQLite, read without a trace."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path.name

    def stamp(self) -> Hashable:
        """Return the stamps of the file and its log. Raises OSError."""
        self.path.stat()
        return database_stamp(self.path)

    def read(self, problems: list[Problem]) -> list[PlacedIssue]:
        return look(self.path, partial(_issues, file=self.name), is_text=True)

    def record(self, message: Message) -> bytes:
        """Return the row of a message, with its labels, as JSON. Raises ContentGone."""
        rows = look_or_gone(self.path, partial(_rows, name=message.id), is_text=True)
        which = message.location.offset if message.location else 0
        if which >= len(rows):
            raise ContentGone(f"{self.name} no longer has message {message.id}", "check whether it was deleted", "E477")
        return msgspec.json.encode(rows[which])


def is_beads(path: Path) -> bool:
    """Say whether a database has the tables of Beads. Raises OSError and Unreadable."""
    return look(path, tables_in) >= NEEDED


def _sets(mail: sqlite3.Connection) -> Iterator[_Set]:
    tables = tables_in(mail)
    return (each for each in SETS if {each.issues, each.labels} <= tables)


def _issues(mail: sqlite3.Connection, file: str) -> list[PlacedIssue]:
    """Return the issues; of those with one id, in several tables, each has a location of its own."""
    placed: list[PlacedIssue] = []
    known: Counter[str] = Counter()
    for tables in _sets(mail):
        for name, value in _issues_in(mail, tables).items():
            placed.append(PlacedIssue(issue_of(value, name), Location(file, known[name], 0)))
            known[name] += 1
    return placed


def _issues_in(mail: sqlite3.Connection, tables: _Set) -> dict[str, dict[str, Any]]:
    issues: dict[str, dict[str, Any]] = {}
    known = columns_in(mail, tables.issues)
    wanted = [name for name in COLUMNS if name in known]
    marks, kinds = ",".join("?" * len(LABELS)), ",".join("?" * len(TYPES))
    chosen = f"SELECT issue_id FROM {tables.labels} WHERE label IN ({marks})"  # noqa: S608
    if "issue_type" in known:
        chosen += f" UNION SELECT id FROM {tables.issues} WHERE issue_type IN ({kinds})"  # noqa: S608
    values = (*LABELS, *TYPES) if "issue_type" in known else LABELS
    for row in mail.execute(
        f"SELECT {','.join(wanted)} FROM {tables.issues} WHERE id IN ({chosen}) ORDER BY rowid",  # noqa: S608
        values,
    ):
        value = dict(zip(wanted, row, strict=True))
        issues.setdefault(str(value["id"]), value)
    for name, label in mail.execute(
        f"SELECT issue_id, label FROM {tables.labels} WHERE issue_id IN ({chosen}) ORDER BY label",  # noqa: S608
        values,
    ):
        if str(name) in issues:
            issues[str(name)].setdefault("labels", []).append(label)
    for name, links in _links(mail, tables):
        if name in issues:
            issues[name]["dependencies"] = links
    return issues


def _links(mail: sqlite3.Connection, tables: _Set) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield what issues reply to: the tables of the releases name the other issue differently."""
    if tables.links not in tables_in(mail):
        return
    known = columns_in(mail, tables.links)
    targets = [name for name in ("depends_on_id", "depends_on_issue_id", "depends_on_wisp_id") if name in known]
    if not targets:
        return
    asked = f"SELECT issue_id, coalesce({','.join([*targets, 'NULL'])}) FROM {tables.links} WHERE type = ?"  # noqa: S608
    for name, target in mail.execute(asked, (REPLY,)):
        if target is not None:
            yield str(name), [{"type": REPLY, "depends_on_id": str(target)}]


def _rows(mail: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    """Return all columns of the issues with an id that concern mail, and their labels."""
    rows: list[dict[str, Any]] = []
    for tables in _sets(mail):
        asked = mail.execute(f"SELECT * FROM {tables.issues} WHERE id = ?", (name,))  # noqa: S608
        for value in rows_of(asked):
            labels = mail.execute(
                f"SELECT label FROM {tables.labels} WHERE issue_id = ? ORDER BY label",  # noqa: S608
                (name,),
            )
            value["labels"] = [label for (label,) in labels]
            rows += [value] if not set(LABELS).isdisjoint(issue_of(value).labels) else []
    return rows
