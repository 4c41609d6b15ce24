"""A town of Gas Town as `gt` and `bd` leave it: its database in each form that a release of Beads has kept.

No release of `bd` can be had from a package index, so these records follow its source and that of Gas Town.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

Form = Literal["export", "tables"]
COLUMNS = {
    "title": "",
    "description": "",
    "status": "open",
    "priority": 2,
    "issue_type": "task",
    "assignee": None,
    "sender": "",
    "created_by": "",
    "created_at": "",
    "updated_at": "",
    "closed_at": None,
    "ephemeral": 0,
    "pinned": 0,
}
ISSUES = ("issues", "labels", "dependencies")
WISPS = ("wisps", "wisp_labels", "wisp_dependencies")
WHEN = "2026-03-16T12:00:05Z"


class Town:
    """The folder of a town, with its database and whatever else lies there."""

    def __init__(self, root: Path, form: Form = "export", *, kept_in: str = "") -> None:
        self.root = root
        self.form = form
        self.folder = root / ".beads"
        self._kept_in = kept_in
        self._issues: dict[str, dict[str, Any]] = {}
        self._torn: dict[str, dict[str, Any]] = {}
        self._is_held = False
        self.junk: list[bytes] = []
        """What stands in the export besides issues."""

    @property
    def file(self) -> Path:
        """Return the file that holds the issues."""
        return self.folder / ("issues.jsonl" if self.form == "export" else "beads.db")

    def make(self) -> None:
        """Make an empty town."""
        (self.root / "mayor").mkdir(parents=True)
        (self.root / "mayor/town.json").write_text('{"type":"town","version":2,"name":"gt"}')
        self.folder.mkdir()
        named = {"database": "beads.db", "jsonl_export": "issues.jsonl"}
        (self.folder / "metadata.json").write_text(json.dumps(named))
        self.flush()

    def issue(self, name: str, *, flush: bool = True, **fields: Any) -> None:
        """Write an issue, or replace fields of it."""
        before = self._issues.get(name, {"id": name, "status": "open", "priority": 2, "issue_type": "task"})
        now = {"created_at": WHEN, **before, **fields}
        is_new = name not in self._issues
        self._issues[name] = {**now, "updated_at": fields.get("updated_at", now["created_at"])}
        if flush and is_new and not self.junk and not self._is_held:
            self._add(self._issues[name])
        elif flush:
            self.flush()

    def mail(self, name: str, sender: str, to: str, body: str, *labels: str, **fields: Any) -> None:
        """Write a message as `gt mail send` does."""
        is_shared = to.startswith(("queue:", "channel:", "announce:"))
        is_typed = is_shared or any(each.startswith("msg-type:") for each in labels)
        more = [] if is_typed else ["msg-type:notification"]
        more += [] if is_shared and not to.startswith("queue:") else ["delivery:pending"]
        all_labels = sorted({"gt:message", f"from:{sender}", *more, *labels})
        self.issue(name, assignee=to, description=body, labels=all_labels, created_by=sender, **fields)

    def close(self, name: str, at: str = "2026-03-16T12:10:00Z", **fields: Any) -> None:
        """Close an issue: how a message is read."""
        labels = sorted({*self._issues[name].get("labels", ()), "gt:mail-closed"})
        self.issue(name, status="closed", closed_at=at, updated_at=at, labels=labels, **fields)

    def label(self, name: str, *labels: str) -> None:
        """Add labels to an issue."""
        self.issue(name, labels=sorted({*self._issues[name].get("labels", ()), *labels}))

    def agent(self, name: str, address: str = "", role: str = "", rig: str = "", **fields: Any) -> None:
        """Write the bead of an agent."""
        lines = [name, "", f"role_type: {role or 'null'}", f"rig: {rig or 'null'}", "agent_state: working"]
        lines += [f"location: {address}"] if address else []
        self.issue(name, title=name, description="\n".join(lines), labels=["gt:agent"], **fields)

    def told(self, name: str, label: str, /, **facts: str) -> None:
        """Write the bead of a channel, a queue or a group."""
        self.issue(name, title=name, description=told(name, **facts), labels=[label])

    def tear(self, name: str) -> None:
        """Leave only the first part of an issue's line in the export."""
        before = self.lines()
        issue = self._issues.pop(name)
        self._torn = {name: issue}
        rest = self.lines()
        [line] = [each for each in before if each not in rest]
        self.junk.append(line[:40])
        self.flush()

    def repair(self) -> None:
        """Write the whole line of the issue that was torn."""
        self.junk.pop()
        self._issues |= self._torn
        self.flush()

    def forget(self, *names: str) -> None:
        """Delete issues; all of them if none is named."""
        for name in names or list(self._issues):
            del self._issues[name]
        self.flush()

    def archive(self, **fields: Any) -> None:
        """Put a message into the archive, as `gt mail archive` does."""
        with (self.folder / "archive.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, separators=(",", ":")) + "\n")

    def lines(self) -> list[bytes]:
        """Return the lines of the export."""
        return [_line(issue) for _, issue in sorted(self._issues.items()) if not issue.get("ephemeral")]

    def _add(self, issue: Mapping[str, Any]) -> None:
        """Write a new issue: what `flush` would do, quickly."""
        if self.form == "tables":
            with closing(sqlite3.connect(self.file)) as database, database:
                database.execute("PRAGMA synchronous = OFF")
                _insert(database, issue)
        elif not issue.get("ephemeral"):
            with self.file.open("ab") as file:
                file.write(_line(issue))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Write everything at the end."""
        self._is_held = True
        yield
        self._is_held = False
        self.flush()

    def flush(self) -> None:
        """Write the database anew, at once."""
        if self._is_held:
            return
        new = self.folder / "new~"
        if self.form == "export":
            new.write_bytes(b"".join([*self.lines(), *self.junk]))
        else:
            _tables(new, list(self._issues.values()))
        new.replace(self.file)


def gas_town(root: Path, form: Form = "export") -> Town:
    """Make a town with mail of every sort: a few agents, a thread, a queue, a channel, wisps and an archive."""
    town = Town(root, form)
    town.make()
    with town.held():
        _fill(town)
    return town


def _fill(town: Town) -> None:
    town.agent("hq-mayor", role="mayor")
    town.agent("hq-deacon", role="deacon")
    town.agent("gt-gastown-polecat-Toast", role="polecat", rig="gastown")
    town.agent("gt-gastown-crew-max", role="crew", rig="gastown")
    town.agent("gt-gastown-witness", role="witness", rig="gastown")
    town.agent(
        "gt-gastown-polecat-Nux",
        role="polecat",
        rig="gastown",
        status="closed",
        closed_at="2026-03-16T13:00:00Z",
    )
    town.told("hq-queue-builds", "gt:queue", name="builds", claim_pattern="gastown/polecats/*")
    town.told("hq-channel-alerts", "gt:channel", name="alerts", subscribers="mayor/,gastown/crew/max")
    town.told("hq-group-ops", "gt:group", name="ops", members="mayor/,deacon/")
    at = "2026-03-16T12:{:02}:00Z".format
    thread = "thread:thread-8f2a11"
    town.mail("hq-a1", "mayor/", "gastown/Toast", "Take gt-77.", thread, title="Work", created_at=at(1), priority=0)
    town.close("hq-a1", at(3))
    answer = (thread, "reply-to:hq-a1", "msg-type:reply", "cc:gastown/max")
    town.mail("hq-a2", "gastown/polecats/Toast", "mayor/", "Done @max.", *answer, title="Re: Work", created_at=at(4))
    town.label("hq-a2", "read", "delivery:acked", "delivery-acked-by:mayor/", f"delivery-acked-at:{at(5)}")
    town.mail("hq-a3", "mayor/", "gastown/Nux", "Are you there?", title="Ping", created_at=at(6))
    town.mail("hq-a4", "gastown/witness", "overseer", "Stuck.", "msg-type:escalation", title="Help", created_at=at(7))
    town.mail("hq-a5", "mayor/", "queue:builds", "Build it.", "queue:builds", title="Build", created_at=at(8))
    claim = ("queue:builds", "claimed-by:gastown/Toast", f"claimed-at:{at(10)}")
    town.mail("hq-a6", "mayor/", "queue:builds", "Build that.", *claim, title="Build more", created_at=at(9))
    town.mail("hq-a7", "deacon/", "channel:alerts", "Disk full.", "channel:alerts", title="Disk", created_at=at(11))
    town.mail("hq-a8", "deacon", "mayor", "Nudge.", title="NUDGE", created_at=at(12), ephemeral=1, pinned=1)
    town.issue("gt-77", title="Ordinary work", labels=["backend"])
    town.archive(
        id="hq-old", **{"from": "mayor/"}, to="gastown/Toast", subject="Old", body="Long ago.", timestamp=at(0)
    )


def told(title: str, /, **facts: str) -> str:
    """Return the text of a bead that describes something."""
    return "\n".join([title, "", *(f"{name}: {value}" for name, value in facts.items())])


def _line(issue: Mapping[str, Any]) -> bytes:
    return json.dumps(issue, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _tables(path: Path, issues: Sequence[Mapping[str, Any]]) -> None:
    """Write a database with the tables and columns that concern mail, wisps in their own."""
    path.unlink(missing_ok=True)
    columns = [f"{name} {'INTEGER' if isinstance(value, int) else 'TEXT'}" for name, value in COLUMNS.items()]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        for main, labels, links in (ISSUES, WISPS):
            database.execute(f"CREATE TABLE {main} (id TEXT PRIMARY KEY, {', '.join(columns)})")
            database.execute(f"CREATE TABLE {labels} (issue_id TEXT, label TEXT, PRIMARY KEY (issue_id, label))")
            database.execute(f"CREATE TABLE {links} (issue_id TEXT, depends_on_id TEXT, type TEXT)")
        for issue in issues:
            _insert(database, issue)


def _insert(database: sqlite3.Connection, issue: Mapping[str, Any]) -> None:
    main, labels, links = WISPS if issue.get("ephemeral") else ISSUES
    row = [issue["id"], *(issue.get(name, value) for name, value in COLUMNS.items())]
    database.execute(f"INSERT INTO {main} VALUES ({','.join('?' * len(row))})", row)
    database.executemany(
        f"INSERT INTO {labels} VALUES (?, ?)", [(issue["id"], each) for each in issue.get("labels", ())]
    )
    answers = [(issue["id"], each["depends_on_id"], each["type"]) for each in issue.get("dependencies", ())]
    database.executemany(f"INSERT INTO {links} VALUES (?, ?, ?)", answers)
