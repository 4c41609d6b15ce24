"""The demo's past: three days of mail, written line by line as other programs write it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from console.demo.conversations import DemoMessage, new_id, tell
from console.demo.doing import activity_of
from console.demo.personas import CAST, MARKER, PERSON, STRANGER, Member
from console.demo.read_records import DemoRead, readings
from console.demo.routine_mail import old_chores, recent_chores
from mailstore.rules.presence import Working

HOUR = 3_600.0
LIVE = ["inscription", "governance", "ontology", "face_decoding", "scripts", "letters"]
AMENDMENT_WRITERS = frozenset({"runner-9", STRANGER})
"""These write the amendment's names of fields (from, to, body); everybody else the table's."""

Record = dict[str, Any]


def write_history(folder: Path, now: float, seed: int) -> None:
    """Write a mailbox with three days of history before `now` (seconds since the epoch) into a new folder.

    The same `now` and `seed` give the same bytes. One line of the mailbox is damaged and one holds two
    records, as it happens when a disk is full. Raises FileExistsError where there is a mailbox already.
    """
    rng = Random(seed)  # noqa: S311 - a plot, not a secret
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MARKER).open("x", encoding="utf-8") as file:
        file.write("A throw-away mailbox of `signalbox demo`: the agents in it are simulated.\n")
    known: dict[str, DemoMessage] = {}
    letters = [*tell(["archive"], now, rng, known, archived=True), *old_chores(now, rng)]
    letters += [*tell(LIVE, now, rng, known), *recent_chores(now, rng)]
    letters.sort(key=lambda letter: letter.time)
    reads = readings(letters, now, rng)
    live = [letter for letter in letters if not letter.archived]
    (folder / "agent-mailbox.jsonl").write_text(_mailbox(live, now), "utf-8")
    _write(folder / "agent-mailbox-reads.jsonl", (_read(reading) for reading in reads))
    _write(folder / "agent-mailbox-deliveries.jsonl", _deliveries(live, reads))
    _write(folder / "agent-mailbox-oversight.jsonl", _journal(live, rng))
    _write(folder / "agent-roster.jsonl", _roster(live, reads, now))
    _write_archive(folder / "agent-mailbox-archive", [letter for letter in letters if letter.archived])


def _stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


def _write(path: Path, records: Iterable[Record]) -> None:
    path.write_text("".join(_line(record) + "\n" for record in records), "utf-8")


def _record(letter: DemoMessage) -> Record:
    is_amended = letter.sender in AMENDMENT_WRITERS
    sender, recipient, content = ("from", "to", "body") if is_amended else ("sender", "recipient", "content")
    record: Record = {
        "id": letter.id,
        sender: letter.sender,
        recipient: letter.recipients[0] if len(letter.recipients) == 1 else list(letter.recipients),
        "timestamp": _stamp(letter.time),
    }
    if letter.subject:
        record["subject"] = letter.subject
    record |= {content: letter.content, "thread": letter.thread, "ttl_hours": letter.ttl_hours}
    if letter.type:
        record["type"] = letter.type
    return record | {"read_by": []}


def _mailbox(live: list[DemoMessage], now: float) -> str:
    """Return the live file: whole lines, but for the night on which the disk was full."""
    full = next(at for at, letter in enumerate(live) if letter.time > now - 9.8 * HOUR)
    lines: list[str] = []
    for at, letter in enumerate(live):
        text = _line(_record(letter))
        if at == full:
            lines.append(f"{text[: len(text) // 2]}\n")
        lines.append(text if at == full + 2 else f"{text}\n")
    return "".join(lines)


def _read(reading: DemoRead) -> Record:
    return {
        "message_id": reading.message_id,
        "reader_session_id": reading.reader,
        "timestamp": _stamp(reading.time),
    }


def _deliveries(live: list[DemoMessage], reads: list[DemoRead]) -> list[Record]:
    """Return whom the person's own messages were for when they were sent: those that read them so far."""
    sent = {letter.id: letter for letter in live if letter.sender == PERSON}
    return [
        {
            "message_id": reading.message_id,
            "recipient": reading.reader,
            "timestamp": _stamp(sent[reading.message_id].time),
        }
        for reading in reads
        if reading.message_id in sent
    ]


def _journal(live: list[DemoMessage], rng: Random) -> list[Record]:
    """Return what the person did: an intervention between two agents, and a dead letter that was settled."""
    stepped_in = next(one for one in live if one.sender == PERSON and len(one.recipients) == 2)
    settled = next(one for one in live if one.recipients == ("architect-old",))
    return [
        {
            "id": new_id(rng),
            "actor": PERSON,
            "action": "acknowledge",
            "message_id": settled.id,
            "timestamp": _stamp(settled.time + 5.2 * HOUR),
            "note": "The sketch turned up in the archive.",
            "details": {"recipient": "architect-old", "state": "dead"},
        },
        {
            "id": new_id(rng),
            "actor": PERSON,
            "action": "intervene",
            "message_id": stepped_in.id,
            "timestamp": _stamp(stepped_in.time),
            "note": "",
            "details": {"thread": stepped_in.thread, "recipients": list(stepped_in.recipients)},
        },
    ]


def _roster(live: list[DemoMessage], reads: list[DemoRead], now: float) -> list[Record]:
    """Return the roster's lines in the order of their writing: each agent's first, then its last."""
    lines: list[Record] = []
    for one in CAST:
        begun = now - one.started * HOUR
        lines.append(_agent(one, "live", begun, begun, now))
        moments = [reading.time for reading in reads if reading.reader == one.session_id]
        moments += [letter.time for letter in live if letter.sender == one.session_id]
        last = max(moments, default=begun)
        if one.is_living:
            lines.append(_agent(one, "live", last, last, now))
        else:
            state = "frozen" if one.ended is None else "dead"
            lines.append(_agent(one, state, now - one.awake_until * HOUR, last, now))
    return sorted(lines, key=lambda line: str(line["updated"]))


def _agent(one: Member, state: str, updated: float, last_seen: float, now: float) -> Record:
    begun = now - one.started * HOUR
    is_living = state == "live"
    record: Record = {"session_id": one.session_id}
    if one.name:
        record["name"] = one.name
    record |= {
        "state": state,
        "role": one.role,
        "tags": list(one.tags),
        "summary": activity_of(one.doing if updated > begun else _before(one), one.activity)
        if is_living
        else one.activity,
        "registered": _stamp(begun),
        "last_seen": _stamp(last_seen),
        "updated": _stamp(updated),
        "model": one.model,
    }
    if state == "dead":
        record["ended_at"] = _stamp(updated)
    return record


def _before(one: Member) -> str:
    """Return a state other than the last, so that it is known since when an agent is in that."""
    return Working.WORKING if one.doing == Working.IDLE else Working.IDLE


def _write_archive(folder: Path, archived: list[DemoMessage]) -> None:
    folder.mkdir()
    months: dict[str, list[Record]] = {}
    for letter in archived:
        record = _record(letter) | {"read_by": _archived_readers(letter)}
        months.setdefault(_stamp(letter.time)[:7], []).append(record)
    for month, records in months.items():
        _write(folder / f"{month}.jsonl", records)


def _archived_readers(letter: DemoMessage) -> list[str]:
    """Return who read an archived letter: read state once stood in the record itself."""
    if letter.recipients == ("auditor",):
        return ["auditor-1"]
    if letter.recipients == ("architect-old",):
        return ["architect-old"]
    return [name for name in ("architect-old", "old-steward", "auditor-1") if name != letter.sender]
