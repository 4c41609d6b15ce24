"""What OpenCode's database says: its sessions, the tasks that they gave to child sessions, and what was used."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import msgspec

from mailstore.kit.sessions.facts import SessionFact
from mailstore.kit.sessions.usage import DAY, Used
from mailstore.kit.tables import columns, rows_of, text_of
from mailstore.kit.timestamps import isoformat
from mailstore.kit.transcripts.turns import tool_words
from mailstore.records.details import SessionTurn, Speaker
from mailstore.records.message import Problem

DATABASE = "opencode.db"
RESULT = re.compile(r"<task_result>\n?(.*?)\n?</task_result>", re.DOTALL)
AT_WORK = 15 * 60.0
"""Seconds: an answer that began before and has no end is one of a program that was killed."""
LATE = 60_000
"""Milliseconds: a row may be dated so long before it can be seen."""
AROUND = 40
"""Messages before and after one that are shown with it."""
SESSION = ("id", "parent_id", "title", "directory", "version", "agent", "model", "cost", "time_created", "time_updated")
TOKENS = ("tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write")
TASKS = (
    "SELECT id, session_id, time_created, data FROM part"
    ' WHERE session_id = ? AND time_updated >= ? AND data LIKE \'%"tool":"task"%\' ORDER BY id'
)
FIRSTS = 'SELECT id, time_created FROM message WHERE session_id = ? AND data LIKE \'%"role":"user"%\' ORDER BY id'
ANSWERS = (
    "SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created >= ? ORDER BY time_created, id"
)
LAST = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
BEFORE = (
    "SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created <= ?"
    " ORDER BY time_created DESC, id DESC LIMIT ?"
)
AFTER = (
    "SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created > ?"
    " ORDER BY time_created, id LIMIT ?"
)
PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


class _TaskTime(msgspec.Struct):
    start: float | None = None
    end: float | None = None


class _State(msgspec.Struct):
    status: str = ""
    input: dict[str, Any] = {}
    output: str = ""
    error: str = ""
    metadata: dict[str, Any] = {}
    time: _TaskTime = msgspec.field(default_factory=_TaskTime)


class _Part(msgspec.Struct):
    type: str = ""
    tool: str = ""
    text: str = ""
    synthetic: bool = False
    state: _State = msgspec.field(default_factory=_State)


class _Cache(msgspec.Struct):
    read: int = 0
    write: int = 0


class _Tokens(msgspec.Struct):
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: _Cache = msgspec.field(default_factory=_Cache)


class _Time(msgspec.Struct):
    created: float | None = None
    completed: float | None = None


class _Answer(msgspec.Struct):
    role: str = ""
    parent: str = msgspec.field(default="", name="parentID")
    model: str = msgspec.field(default="", name="modelID")
    tokens: _Tokens | None = None
    time: _Time = msgspec.field(default_factory=_Time)


PART = msgspec.json.Decoder(_Part)
ANSWER = msgspec.json.Decoder(_Answer)


class SessionRow(NamedTuple):
    """A session: times in milliseconds since the epoch."""

    id: str
    parent: str
    title: str
    folder: str
    version: str
    model: str
    cost: float
    tokens: int
    created: int
    updated: int


class Found(NamedTuple):
    """What stands in the database now: all sessions, and the facts that may be new."""

    sessions: dict[str, SessionRow]
    facts: list[SessionFact]
    damaged: list[Problem]


def look_for(since: dict[str, int], file: str) -> Callable[[sqlite3.Connection], Found]:
    """Return a query for the sessions, and the tasks in those that changed since they were looked at, by session."""

    def query(database: sqlite3.Connection) -> Found:
        sessions = _sessions(database)
        facts = [_began(row, file) for row in sessions.values()]
        damaged: list[Problem] = []
        parents = {row.parent for row in sessions.values()} & sessions.keys()
        for parent in sorted(parents):
            seen = since.get(parent, 0)
            if sessions[parent].updated > seen or any(
                row.parent == parent and row.updated > seen for row in sessions.values()
            ):
                facts += _tasks(database, parent, seen, file, damaged)
        return Found(sessions, facts, damaged)

    return query


def _sessions(database: sqlite3.Connection) -> dict[str, SessionRow]:
    known = columns(database, "session", *SESSION, *TOKENS)
    rows = rows_of(database.execute(f"SELECT {known} FROM session"))  # noqa: S608 - names of our own
    return {
        text_of(row["id"]): SessionRow(
            text_of(row["id"]),
            text_of(row["parent_id"]),
            text_of(row["title"]),
            text_of(row["directory"]),
            text_of(row["version"]),
            text_of(row["model"]),
            row["cost"] if isinstance(row["cost"], float | int) else 0.0,
            sum(_number(row[name]) for name in TOKENS),
            _number(row["time_created"]),
            _number(row["time_updated"]),
        )
        for row in rows
    }


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _began(row: SessionRow, file: str) -> SessionFact:
    agent = re.search(r" \(@(\S+) subagent\)$", row.title)
    name = agent[1] if agent and row.parent else row.folder.rstrip("/").rpartition("/")[2]
    time = isoformat(row.created / 1000)
    return SessionFact(
        "began", file, 0, 0, row.id, time, name=name, other=row.parent, folder=row.folder, version=row.version
    )


def _tasks(
    database: sqlite3.Connection, parent: str, since: int, file: str, damaged: list[Problem]
) -> Iterator[SessionFact]:
    """Yield what a session told its children by a tool, when they were given it, and what they answered."""
    for part_id, _, created, data in database.execute(TASKS, (parent, max(0, since - LATE))):
        try:
            state = PART.decode(text_of(data)).state
        except (msgspec.DecodeError, RecursionError):
            damaged.append(Problem(file, 1, 0, f"a task in part {text_of(part_id)[:40]} is damaged"))
            continue
        text, child = _text(state.input, "prompt"), _text(state.metadata, "sessionId")
        start = state.time.start or _number(created)
        if not text:
            continue
        base = SessionFact("told", file, int(start), 0, parent, isoformat(start / 1000), text_of(part_id), "task")
        if child:
            yield base.but(other=child, text=text)
            for first_id, at in database.execute(FIRSTS, (child,)):
                if (offset := _number(at)) >= start - 1000 and _prompt(database, first_id) == text.strip():
                    time = isoformat(offset / 1000)
                    yield base.but(
                        kind="given",
                        session=child,
                        id=text_of(first_id),
                        time=time,
                        offset=offset,
                        other=parent,
                        text=text,
                    )
                    break
        if child and state.status == "completed" and state.time.end:
            match = RESULT.search(state.output)
            words = (match[1] if match else state.output).strip()
            at = isoformat(state.time.end / 1000)
            if words:
                yield base.but(
                    kind="answered",
                    time=at,
                    offset=int(state.time.end),
                    name="",
                    other=child,
                    text=words,
                    reply=base.id,
                )
        elif state.status == "error" and not child:
            to = _text(state.input, "subagent_type") or "subagent"
            yield base.but(
                kind="refused", name=" ".join(state.error.split())[:200] or "the task failed", other=to, text=text
            )


def _text(value: dict[str, Any], name: str) -> str:
    value_of_name = value.get(name)
    return value_of_name if isinstance(value_of_name, str) else ""


def prompt_of(session: str, since: int, text: str) -> Callable[[sqlite3.Connection], str]:
    """Return a query for the id of a user's message with a text since a time in milliseconds, or an empty one."""

    def query(database: sqlite3.Connection) -> str:
        for message_id, _, data in database.execute(ANSWERS, (session, since)):
            said = _answer(data)
            if said is not None and said.role == "user" and _prompt(database, message_id) == text.strip():
                return text_of(message_id)
        return ""

    return query


def answered(sent: Collection[SessionFact], file: str) -> Callable[[sqlite3.Connection], list[SessionFact]]:
    """Return a query for those of some messages to sessions that these have begun to answer."""

    def query(database: sqlite3.Connection) -> list[SessionFact]:
        facts = []
        for line in sent:
            for _, created, data in database.execute(ANSWERS, (line.session, line.offset - LATE)):
                said = _answer(data)
                if said is not None and said.role == "assistant" and said.parent == line.id:
                    facts.append(line.but(kind="given", name="", time=isoformat(_number(created) / 1000), file=file))
                    break
        return facts

    return query


def _prompt(database: sqlite3.Connection, message_id: object) -> str:
    """Return what a user's message says, without what the program added to it."""
    texts = (part.text for part in _parts(database, message_id) if part.type == "text" and not part.synthetic)
    return next(texts, "").strip()


def _parts(database: sqlite3.Connection, message_id: object) -> Iterator[_Part]:
    """Yield the parts of a message that can be read."""
    for (part,) in database.execute(PARTS, (message_id,)):
        try:
            yield PART.decode(text_of(part))
        except (msgspec.DecodeError, RecursionError):
            continue


def used_since(now: float) -> Callable[[sqlite3.Connection], dict[str, list[Used]]]:
    """Return a query for what the sessions that changed in the last day have used, by session."""

    def query(database: sqlite3.Connection) -> dict[str, list[Used]]:
        used: defaultdict[str, list[Used]] = defaultdict(list)
        for row in _sessions(database).values():
            if row.updated / 1000 < now - DAY:
                continue
            for message_id, created, data in database.execute(ANSWERS, (row.id, int((now - DAY) * 1000))):
                if (said := _answer(data)) is None or said.role != "assistant" or said.tokens is None:
                    continue
                tokens = said.tokens
                given, written = tokens.input + tokens.cache.read + tokens.cache.write, tokens.output + tokens.reasoning
                at = (said.time.completed or _number(created)) / 1000
                if given:
                    used[row.id].append(
                        Used(text_of(message_id), at, given, written, given + written, model=said.model)
                    )
            if row.tokens:
                used[row.id].append(Used("", None, cost=row.cost or None, all=row.tokens, is_answer=False))
        return used

    return query


def _answer(data: object) -> _Answer | None:
    try:
        return ANSWER.decode(text_of(data))
    except (msgspec.DecodeError, RecursionError):
        return None


def at_work(sessions: dict[str, SessionRow], now: float) -> Callable[[sqlite3.Connection], frozenset[str]]:
    """Return a query for the sessions whose last answer has begun and not ended."""

    def query(database: sqlite3.Connection) -> frozenset[str]:
        ids = set()
        for row in sessions.values():
            if row.updated / 1000 > now - AT_WORK:
                for (data,) in database.execute(LAST, (row.id,)):
                    said = _answer(data)
                    if said is not None and (said.role == "user" or said.time.completed is None):
                        ids.add(row.id)
        return frozenset(ids)

    return query


def turns(session: str, at: int, parent: str) -> Callable[[sqlite3.Connection], list[SessionTurn]]:
    """Return a query for the turns of a session around a time in milliseconds, the last one before it marked."""

    def query(database: sqlite3.Connection) -> list[SessionTurn]:
        before = list(database.execute(BEFORE, (session, at, AROUND)))[::-1]
        after = list(database.execute(AFTER, (session, at, AROUND)))
        session_turns = []
        for number, (message_id, created, data) in enumerate([*before, *after]):
            said = _answer(data)
            texts, tools = [], []
            for part in _parts(database, message_id):
                texts += [part.text] if part.type == "text" and part.text and not part.synthetic else []
                tools += [tool_words(part.tool, part.state.input)] if part.type == "tool" else []
            is_user = said is not None and said.role == "user"
            speaker = (Speaker.SESSION if parent else Speaker.USER) if is_user else Speaker.AGENT
            if texts or tools:
                is_sought = number == len(before) - 1
                session_turns.append(
                    SessionTurn(speaker, _number(created) / 1000, "\n\n".join(texts), tuple(tools), is_sought)
                )
        return session_turns

    return query
