"""`signalbox why`: print the messages and reads that led to a message."""

from __future__ import annotations

import argparse
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.loading import find_message, loaded
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.render.timestamps import iso_time
from mailstore.queries.causes import causes
from mailstore.steps import at_once


class CauseRow(msgspec.Struct, frozen=True):
    """A message of the chain, and how it came about from the one before it."""

    id: Annotated[str, "Its id."]
    time: Annotated[str | None, "When it was sent; null where the record's time can't be read."]
    sender: Annotated[str, "Who sent it."]
    to: Annotated[list[str], "Its recipients, as they were written."]
    subject: Annotated[str, "Its subject."]
    because: Annotated[
        str | None,
        "`answers`: it answers the message before it; `read`: its sender had read that one last; null for the first.",
    ]
    read: Annotated[str | None, "When its sender read the message before it; null where that is not recorded."]


ROWS = JsonOutput(list[CauseRow])
OUTPUTS = (ROWS,)
WORDS = {None: "", "answers": "answers it", "read": "read it last"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MSG", help="Id of the message, or the start of it")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per message, the earliest first."""
    with loaded(args) as mail:
        *_, chain = at_once(causes(mail.mailbox, find_message(mail.mailbox, args.message)))
    rows = [
        CauseRow(
            cause.message.id,
            iso_time(cause.message.time if cause.message.timed else None),
            cause.message.sender,
            list(cause.message.recipients),
            cause.message.subject,
            cause.because,
            iso_time(cause.read),
        )
        for cause in chain
    ]
    if args.json:
        ROWS.put(rows)
    else:
        cells = [
            (row.time or "–", row.sender, ", ".join(row.to), row.subject, WORDS[row.because], row.read or "", row.id)
            for row in rows
        ]
        put(columns(cells, ("time", "sender", "recipients", "subject", "because", "read", "message")))
    return 0
