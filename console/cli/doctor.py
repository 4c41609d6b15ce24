"""`signalbox doctor`: reads everything and reports what is damaged or leads nowhere; changes nothing."""

from __future__ import annotations

import argparse
import time

from console.cli.document import JsonOutput
from console.cli.loading import open_mailbox
from console.cli.mirrors_shown import mirror_rows, mirror_words
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.settings import settings
from console.cli.setup_output import Checkup, DuplicateRecord, FileProblem, MessageName, ReplyCycle
from console.render.safe import visible_line
from mailstore.files.mounts import silent_file_system
from mailstore.location import path_in
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Receipt
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

CHECKUP = JsonOutput(Checkup)
OUTPUTS = (CHECKUP,)

STATUSES = {1: "records are damaged"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    mailbox_options(parser, at=False)


def run(args: argparse.Namespace) -> int:
    """Print the findings; return 1 for damaged records, 0 otherwise, even if addresses or parents are unknown."""
    configured = settings()
    with open_mailbox(args, configured) as store:
        found = examine(store, configured.user)
    if args.json:
        CHECKUP.put(found)
    else:
        put(_report(found))
    return int(bool(found.malformed or found.duplicates or found.cycles))


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
    found = [problem for problem in mailbox.problems if problem.fatal is fatal]
    found.sort(key=lambda problem: (problem.file, problem.offset))
    return [FileProblem(problem.file, problem.line, problem.offset, problem.reason) for problem in found]


def _unresolvable(mailbox: Mailbox) -> list[MessageName]:
    kinds: dict[str, Kind] = {}
    found = []
    for message in mailbox.messages():
        for text in message.recipients:
            if text not in kinds:
                kinds[text] = resolve(text, mailbox.roster, mailbox.user).kind
            if kinds[text] in (Kind.UNKNOWN, Kind.LITERAL):
                found.append(MessageName(message.id, text))
    return found


def _report(found: Checkup) -> str:
    lines = [
        f"{found.mailbox}: {found.messages} messages, {found.archived} archived, {found.agents} agents",
        *(f"{fault.file}:{fault.line}: unreadable: {fault.reason}" for fault in found.malformed),
        *(f"{fault.file}:{fault.line}: warning: {fault.reason}" for fault in found.warnings),
        *(f"{spot.file}: offset {spot.offset}: duplicate id {spot.id}" for spot in found.duplicates),
        *(f"missing parent message: {parent}" for parent in found.orphans),
        *(f"reply cycle, cut at {ring.cut}: {', '.join(ring.members)}" for ring in found.cycles),
        *(f"{pair.message_id}: no agent by the name {pair.name}" for pair in found.unresolvable),
        *(f"{pair.name} has read {pair.message_id}, which is missing" for pair in found.orphan_reads),
    ]
    if len(lines) == 1:
        lines.append("No problems found")
    if found.polled:
        lines.append(f"its file system ({found.polled}) reports no changes: they are looked for many times a second")
    lines += map(mirror_words, found.mirrors)
    return "\n".join(map(visible_line, lines))
