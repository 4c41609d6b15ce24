"""The demo's past: three days of mail, written line by line as other programs write it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import msgspec

from console.demo.cast import CAST, MARKER, STRANGER, USER, Member, activity_of
from console.demo.script import Scene, ScriptError, read_script, seconds
from mailstore.kit.bodies import mentions
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.rules.presence import Working
from mailstore.state.mailbox import Mailbox

HOUR = 3_600.0
PAST_HOURS = 72
LIVE = ("inscription", "governance", "ontology", "face_decoding", "scripts", "letters", "routine")
AMENDMENT_WRITERS = frozenset({"runner-9", STRANGER})
"""These write the amendment's names of fields (from, to, body); everybody else the table's."""

Record = dict[str, Any]


class PastMessage(msgspec.Struct, frozen=True):
    """A message of the past with its text, and who never read it."""

    head: Message
    content: str
    missed: list[str]


def write_history(folder: Path, now: float, seed: int) -> None:
    """Write a mailbox with three days of history before `now` (seconds since the epoch) into a new folder.

    The same `now` and `seed` give the same bytes. One line of the mailbox is damaged and one holds two
    records, as it happens when a disk is full. Raises FileExistsError where there is a mailbox already.
    """
    rng = Random(seed)  # noqa: S311 - a plot, not a secret
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MARKER).open("x", encoding="utf-8") as file:
        file.write("A throw-away mailbox of `signalbox demo`: the agents in it are simulated.\n")
    labels: dict[str, Message] = {}
    archived = sorted(_told(["archive"], now, rng, labels), key=lambda one: one.head.time)
    live = sorted(_told(LIVE, now, rng, labels), key=lambda one: one.head.time)
    reads = _reads(live, now, rng)
    (folder / "agent-mailbox.jsonl").write_text(_mailbox(live, now), "utf-8")
    _write(folder / "agent-mailbox-reads.jsonl", map(_read, reads))
    _write(folder / "agent-mailbox-deliveries.jsonl", _deliveries(live, reads))
    _write(folder / "agent-mailbox-oversight.jsonl", _journal([one.head for one in live], rng))
    _write(folder / "agent-roster.jsonl", _roster([one.head for one in live], reads, now))
    _write_archive(folder / "agent-mailbox-archive", archived)


# What was said


def _told(names: Iterable[str], now: float, rng: Random, labels: dict[str, Message]) -> Iterator[PastMessage]:
    """Yield the messages of some files; `labels` holds those with a label, so that one file can answer another."""
    for name in names:
        for scene in read_script(name).thread:
            for step in range(scene.times):
                begun = now - seconds(scene.ago, rng) + step * seconds(scene.every, rng) + rng.uniform(0, 55)
                yield from _played(scene, begun, step + 1, rng, labels, is_archived=name == "archive")


def _played(
    scene: Scene, begun: float, step: int, rng: Random, labels: dict[str, Message], *, is_archived: bool
) -> Iterator[PastMessage]:
    above: Message | None = None
    for line in scene.lines:
        if line.answers:
            if line.answers not in labels:
                raise ScriptError(f"{line.sender} answers {line.answers!r}, but no message has that label")
            above = labels[line.answers]
        start = begun if above is None or above.archived is not is_archived else above.time
        subject, content = line.filled(rng, above, step)
        head = Message(
            id=_new_id(rng),
            sender=line.sender,
            recipients=line.recipients(line.sender, above),
            timestamp="",
            time=float(int(start + seconds(line.after, rng) + rng.uniform(0, 20))),
            subject=subject,
            thread=None if above is None else above.id,
            ttl_hours=line.ttl,
            type=line.type,
            mentions=mentions(content),
            archived=is_archived,
        )
        if line.id:
            labels[line.id] = head
        above = head
        yield PastMessage(head, content, line.missed)


def _new_id(rng: Random) -> str:
    return str(UUID(int=rng.getrandbits(128), version=4))


# Who read it


def _reads(live: list[PastMessage], now: float, rng: Random) -> list[Receipt]:
    """Return the read records, oldest first: at each visit an agent reads what the mailbox has for it by its rules.

    Agents visit every 8 to 50 minutes, and a minute before they write; the user whenever it writes.
    """
    visits = [(moment, one.session_id) for one in CAST for moment in _visits(one, live, now, rng)]
    visits += [(one.head.time - rng.uniform(20, 55), USER) for one in live if one.head.sender == USER]
    begun = [(now - one.started * HOUR, one) for one in CAST]
    events: list[tuple[float, Agent | Message]] = [(time, _beginning(one, time)) for time, one in begun]
    events = sorted([*events, *((one.head.time, one.head) for one in live)], key=lambda event: event[0], reverse=True)
    missed = {one.head.id: one.missed for one in live}
    mailbox = Mailbox(USER)
    done: list[Receipt] = []
    for visit, reader in sorted(visits):
        while events and events[-1][0] < visit:
            time, event = events.pop()
            mailbox.fold([event], time)
        moment = visit
        for message in mailbox.unread(reader, visit):
            if reader not in missed[message.id] and (reader != USER or USER in message.recipients):
                moment = min(moment + rng.uniform(1, 4), now)
                done.append(Receipt(message.id, reader, float(int(moment))))
                mailbox.fold(done[-1:], visit)
    return sorted(done, key=lambda one: (one.time or 0.0, one.reader, one.message_id))


def _beginning(one: Member, time: float) -> Agent:
    return Agent(one.session_id, role=one.role, tags=one.tags, started_at=time, updated=time)


def _visits(one: Member, live: list[PastMessage], now: float, rng: Random) -> list[float]:
    begun = now - min(one.started, PAST_HOURS) * HOUR
    until = min(now - one.awake_until * HOUR, now - 15)
    moments = [message.head.time - rng.uniform(45, 100) for message in live if message.head.sender == one.session_id]
    moment = begun + rng.uniform(5, 40)
    while moment < until:
        moments.append(moment)
        moment += rng.uniform(8, 50) * 60
    return [moment for moment in moments if begun < moment < until]


# The files


def _stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


def _write(path: Path, records: Iterable[Record]) -> None:
    path.write_text("".join(_line(record) + "\n" for record in records), "utf-8")


def _record(one: PastMessage, read_by: Iterable[str] = ()) -> Record:
    head = one.head
    is_amended = head.sender in AMENDMENT_WRITERS
    sender, recipient, content = ("from", "to", "body") if is_amended else ("sender", "recipient", "content")
    record: Record = {
        "id": head.id,
        sender: head.sender,
        recipient: head.recipients[0] if len(head.recipients) == 1 else list(head.recipients),
        "timestamp": _stamp(head.time),
    }
    if head.subject:
        record["subject"] = head.subject
    record |= {content: one.content, "thread": head.thread, "ttl_hours": head.ttl_hours}
    if head.type:
        record["type"] = head.type
    return record | {"read_by": list(read_by)}


def _mailbox(live: list[PastMessage], now: float) -> str:
    """Return the live file: whole lines, but for the night on which the disk was full."""
    full = next(at for at, one in enumerate(live) if one.head.time > now - 9.8 * HOUR)
    lines: list[str] = []
    for at, one in enumerate(live):
        text = _line(_record(one))
        if at == full:
            lines.append(f"{text[: len(text) // 2]}\n")
        lines.append(text if at == full + 2 else f"{text}\n")
    return "".join(lines)


def _read(receipt: Receipt) -> Record:
    return {
        "message_id": receipt.message_id,
        "reader_session_id": receipt.reader,
        "timestamp": _stamp(receipt.time or 0.0),
    }


def _deliveries(live: list[PastMessage], reads: list[Receipt]) -> list[Record]:
    """Return whom the user's own messages were for when they were sent: those that read them so far."""
    sent = {one.head.id: _stamp(one.head.time) for one in live if one.head.sender == USER}
    return [
        {"message_id": one.message_id, "recipient": one.reader, "timestamp": sent[one.message_id]}
        for one in reads
        if one.message_id in sent
    ]


def _journal(live: list[Message], rng: Random) -> list[Record]:
    """Return what the user did: a dead letter that was settled, and an intervention between two agents."""
    stepped_in = next(one for one in live if one.sender == USER and len(one.recipients) == 2)
    settled = next(one for one in live if one.recipients == ("architect-old",))
    return [
        {
            "id": _new_id(rng),
            "actor": USER,
            "action": "acknowledge",
            "message_id": settled.id,
            "timestamp": _stamp(settled.time + 5.2 * HOUR),
            "note": "The sketch turned up in the archive.",
            "details": {"recipient": "architect-old", "state": "dead"},
        },
        {
            "id": _new_id(rng),
            "actor": USER,
            "action": "intervene",
            "message_id": stepped_in.id,
            "timestamp": _stamp(stepped_in.time),
            "note": "",
            "details": {"thread": stepped_in.thread, "recipients": list(stepped_in.recipients)},
        },
    ]


def _roster(live: list[Message], reads: list[Receipt], now: float) -> list[Record]:
    """Return the roster's lines in the order of their writing: each agent's first, then its last."""
    lines: list[Record] = []
    for one in CAST:
        begun = now - one.started * HOUR
        moments = [read.time or begun for read in reads if read.reader == one.session_id]
        last = max([begun, *moments, *(message.time for message in live if message.sender == one.session_id)])
        # Before the end another state, so that it is known since when an agent is in its last one.
        before = Working.WORKING if one.doing == Working.IDLE else Working.IDLE
        lines.append(_agent(one, now, "live", begun, begun, activity_of(before, one.activity)))
        if one.is_living:
            lines.append(_agent(one, now, "live", last, last, activity_of(one.doing, one.activity)))
        else:
            state = "frozen" if one.ended is None else "dead"
            lines.append(_agent(one, now, state, now - one.awake_until * HOUR, last, one.activity))
    return sorted(lines, key=lambda line: str(line["updated"]))


def _agent(one: Member, now: float, state: str, updated: float, last_seen: float, activity: str) -> Record:
    return {
        "session_id": one.session_id,
        **({"name": one.name} if one.name else {}),
        "state": state,
        "role": one.role,
        "tags": list(one.tags),
        "summary": activity,
        "registered": _stamp(now - one.started * HOUR),
        "last_seen": _stamp(last_seen),
        "updated": _stamp(updated),
        "model": one.model,
        **({"ended_at": _stamp(updated)} if state == "dead" else {}),
    }


def _write_archive(folder: Path, archived: list[PastMessage]) -> None:
    folder.mkdir()
    months: dict[str, list[Record]] = {}
    for one in archived:
        months.setdefault(_stamp(one.head.time)[:7], []).append(_record(one, _archived_readers(one.head)))
    for month, records in months.items():
        _write(folder / f"{month}.jsonl", records)


def _archived_readers(message: Message) -> list[str]:
    """Return who read an archived message: read state once stood in the record itself."""
    if message.recipients == ("auditor",):
        return ["auditor-1"]
    if message.recipients == ("architect-old",):
        return ["architect-old"]
    return [name for name in ("architect-old", "old-steward", "auditor-1") if name != message.sender]
