"""`signalbox timeline`: print everything that happened to a message, from the records."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import find_message, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.output import MomentRow
from console.cli.plain import columns, put
from console.render.timestamps import iso_time
from mailstore.queries.timeline import timeline

ROWS = JsonOutput(list[MomentRow])
OUTPUTS = (ROWS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MSG", help="Id of the message, or the start of it")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per event, the earliest first."""
    with loaded_for_listing(args) as mail:
        moments = timeline(mail.mailbox, find_message(mail.mailbox, args.message), mail.now)
    if args.json:
        ROWS.put([MomentRow(iso_time(moment.time), moment.what, moment.who, moment.how) for moment in moments])
    else:
        put(
            columns(
                [(iso_time(moment.time) or "–", moment.what, moment.who, moment.how) for moment in moments],
                ("time", "what", "who", "how"),
            )
        )
    return 0
