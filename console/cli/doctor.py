"""`signalbox doctor`: reads everything and reports what is damaged or leads nowhere; changes nothing."""

from __future__ import annotations

import argparse
import time

import msgspec

from console.cli.document import JsonOutput
from console.cli.loading import open_mailbox
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.settings import settings
from console.cli.setup_output import Checkup, DuplicateRecord, FileProblem, MessageName, MirrorRow, ReplyCycle
from console.render.safe import visible_line
from console.render.timestamps import iso_time
from mailstore.files.mounts import silent_file_system
from mailstore.location import path_in
from mailstore.mirroring.mirror_report import MirrorStatus
from mailstore.mirroring.mirror_state import statuses_of
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Receipt
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

CHECKUP = JsonOutput(Checkup)
OUTPUTS = (CHECKUP,)

STATUSES = {1: "records are damaged"}
ARROWS = {"both": "⇄", "to": "→", "from": "←"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    mailbox_options(parser, at=False)


def run(args: argparse.Namespace) -> int:
    """Print the findings; return 1 for damaged records, 0 otherwise, even if addresses or parents are unknown."""
    configured = settings()
    with open_mailbox(args, configured) as store:
        checkup = examine(store, configured.user)
    if args.json:
        CHECKUP.put(checkup)
    else:
        put(_report(checkup))
    return int(bool(checkup.malformed or checkup.duplicates or checkup.cycles))


def examine(store: Store, user: str) -> Checkup:
    """Read a whole mailbox and return every problem found."""
    mailbox = Mailbox(user)
    now = time.time()
    reads: dict[tuple[str, str], None] = {}
    for batch in store.scan():
        mailbox.fold(batch, now)
        reads.update(((event.message_id, event.reader), None) for event in batch if isinstance(event, Receipt))
    counts = mailbox.counts()
    return Checkup(
        mailbox=store.url,
        messages=counts.messages,
        archived=counts.archived,
        agents=len(mailbox.roster),
        malformed=_faults(mailbox, fatal=True),
        warnings=_faults(mailbox, fatal=False),
        duplicates=[
            DuplicateRecord(message.id, where.file if where else "", where.offset if where else 0)
            for message in mailbox.duplicates
            for where in [message.location]
        ],
        orphans=sorted(mailbox.orphans()),
        cycles=[ReplyCycle(cycle.members, cycle.cut) for cycle in mailbox.cycles()],
        unresolvable=_unresolvable(mailbox),
        orphan_reads=[MessageName(message_id, reader) for message_id, reader in reads if message_id not in mailbox],
        mirrors=mirror_rows(store.url),
        polled=_silent(store.url),
    )


def _silent(url: str) -> str:
    """Return the file system of a mailbox if it reports no changes."""
    path = path_in(url)
    return "" if path is None else silent_file_system(path)


def _faults(mailbox: Mailbox, *, fatal: bool) -> list[FileProblem]:
    problems = [problem for problem in mailbox.problems if problem.fatal is fatal]
    problems.sort(key=lambda problem: (problem.file, problem.offset))
    return [FileProblem(problem.file, problem.line, problem.offset, problem.reason) for problem in problems]


def _unresolvable(mailbox: Mailbox) -> list[MessageName]:
    kinds: dict[str, Kind] = {}
    names = []
    for message in mailbox.messages():
        for text in message.recipients:
            if text not in kinds:
                kinds[text] = resolve(text, mailbox.roster, mailbox.user).kind
            if kinds[text] in (Kind.UNKNOWN, Kind.LITERAL):
                names.append(MessageName(message.id, text))
    return names


def _report(checkup: Checkup) -> str:
    lines = [
        f"{checkup.mailbox}: {checkup.messages} messages, {checkup.archived} archived, {checkup.agents} agents",
        *(f"{fault.file}:{fault.line}: unreadable: {fault.reason}" for fault in checkup.malformed),
        *(f"{fault.file}:{fault.line}: warning: {fault.reason}" for fault in checkup.warnings),
        *(f"{spot.file}: offset {spot.offset}: duplicate id {spot.id}" for spot in checkup.duplicates),
        *(f"missing parent message: {parent}" for parent in checkup.orphans),
        *(f"reply cycle, cut at {ring.cut}: {', '.join(ring.members)}" for ring in checkup.cycles),
        *(f"{pair.message_id}: no agent by the name {pair.name}" for pair in checkup.unresolvable),
        *(f"{pair.name} has read {pair.message_id}, which is missing" for pair in checkup.orphan_reads),
    ]
    if len(lines) == 1:
        lines.append("No problems found")
    if checkup.polled:
        lines.append(f"its file system ({checkup.polled}) reports no changes: they are looked for many times a second")
    lines += map(mirror_words, checkup.mirrors)
    return "\n".join(map(visible_line, lines))


def mirror_rows(url: str) -> list[MirrorRow]:
    """Return the mirrors of a mailbox, as their last status says."""
    return [_row(url, status, is_running=is_running) for status, is_running in statuses_of(url)]


def _row(url: str, status: MirrorStatus, *, is_running: bool) -> MirrorRow:
    first, second = status.ends
    is_first = first.url == url
    cut_off = next((end for end in status.ends if end.cut_off is not None), None)
    return MirrorRow(
        other=second.url if is_first else first.url,
        direction="both" if status.is_both else "to" if is_first else "from",
        is_running=is_running,
        equal_at=iso_time(status.equal_at),
        cut_off=iso_time(cut_off.cut_off) if cut_off else None,
        why=f"{cut_off.url}: {cut_off.reason}" if cut_off else "",
        pending=sum(end.pending for end in status.ends),
        written=sum(sum(msgspec.structs.astuple(end.written)) for end in status.ends),
        lost=sum(loss.number for loss in status.losses),
        lost_why=[f"{loss.number:,} {loss.what}: {loss.before} → {loss.after or 'nothing'}" for loss in status.losses],
        conflicts=status.conflict_number,
    )


def mirror_words(row: MirrorRow) -> str:
    """Return a mirror as a line."""
    parts = ["running" if row.is_running else "not running"]
    parts.append(f"last equal {row.equal_at}" if row.equal_at else "never equal yet")
    parts.append(f"{row.written:,} records written")
    parts += [f"{row.pending:,} waiting"] if row.pending else []
    parts += [f"{row.lost:,} not mirrored, or changed ({'; '.join(row.lost_why)})"] if row.lost else []
    parts += [f"{row.conflicts:,} id conflict{'s' * (row.conflicts != 1)}"] if row.conflicts else []
    parts += [f"cut off since {row.cut_off} ({row.why})"] if row.cut_off else []
    return f"mirror {ARROWS[row.direction]} {row.other}: {', '.join(parts)}"
