"""`signalbox away`: tell what happened while the user was away, as the console does on return."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, moment_of
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.cli.settings import last_here
from console.cli.settling_output import AbsenceRow, BusyThreadRow, LostMessageRow
from console.render.short_text import age, plural
from console.render.timestamps import iso_time
from mailstore.queries.absence import Absence, look_back
from mailstore.steps import at_once

PICTURE = JsonOutput(AbsenceRow)
OUTPUTS = (PICTURE,)

DAY = 24 * 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help="Since when (default: when the console was left, or a day)")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the numbers, and a row for each message, message, agent and busy thread."""
    with loaded_for_listing(args, with_seen=True) as mail:
        if args.since is not None:
            since = moment_of("--since", args.since, mail.now, is_past=True)
        else:
            left = last_here(mail.store.url)
            since = mail.now - DAY if left is None or left > mail.now else left
        *_, absence = at_once(look_back(mail.mailbox, since, mail.now))
    if args.json:
        PICTURE.put(_row(absence))
    elif absence.is_empty:
        put(f"Nothing happened since {iso_time(since)}")
    else:
        put(_text(mail, absence))
    return 0


def _row(absence: Absence) -> AbsenceRow:
    return AbsenceRow(
        since=iso_time(absence.since),
        until=iso_time(absence.until),
        messages=absence.messages,
        threads=absence.threads,
        for_you=list(absence.for_you),
        questions=list(absence.questions),
        dead_letters=[LostMessageRow(message.message_id, message.recipient) for message in absence.dead_letters],
        ended=list(absence.ended),
        appeared=list(absence.appeared),
        busiest=[BusyThreadRow(root, number) for root, number in absence.busiest],
    )


def _text(mail: Loaded, absence: Absence) -> str:
    mailbox = mail.mailbox
    cells: list[tuple[str, str, str, str]] = []

    def add(what: str, message_id: str) -> None:
        message = mailbox.message(message_id)
        subject = "" if message is None else message.subject
        cells.append((what, message_id, "" if message is None else age(mail.now - message.time), subject))

    for message_id in absence.for_you:
        add("for you", message_id)
    for message_id in absence.questions:
        add("open question", message_id)
    for entry in absence.dead_letters:
        add("dead letter", entry.message_id)
    cells += [("ended", name, "", "") for name in absence.ended]
    cells += [("appeared", name, "", "") for name in absence.appeared]
    for root, number in absence.busiest:
        add(f"{number} new", root)
    head = (
        f"{plural(absence.messages, 'message')} in {plural(absence.threads, 'thread')} since {iso_time(absence.since)}"
    )
    return f"{head}\n\n{columns(cells, ('what', 'message or agent', 'age', 'subject'))}"
