"""`signalbox check --as ID`: an agent's unread mail, printed for it to read, and recorded as read."""

from __future__ import annotations

import argparse
import sys

from console.cli.document import put_json
from console.cli.edge import put, warn
from console.cli.fence import Letter, fenced, header
from console.cli.letters import message_rows, text_of
from console.cli.loading import loaded, reader_name
from console.cli.options import mailbox_options, reader_option
from console.cli.problems import UsedWrongly
from console.cli.read import mark, warn_if_unknown
from mailstore.store import Capability


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    reader_option(parser, "whose mail: a session id, or user", required=True)
    parser.add_argument("--dry-run", action="store_true", help="record nothing")
    parser.add_argument("--limit", metavar="N", type=int, help="only the oldest N; the others stay unread")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print what is unread, the oldest first, and then record that it was read; nothing where nothing is."""
    if args.limit is not None and args.limit < 1:
        raise UsedWrongly("--limit is less than one", "give a number from 1")
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)
        unread = mail.mailbox.unread(reader, mail.now)
        shown = unread[: args.limit]
        if args.json:
            put_json(message_rows(mail, shown))
        elif shown:
            put(
                fenced(
                    reader,
                    [Letter(header(message), text_of(mail, message)) for message in shown],
                    len(unread) - len(shown),
                )
            )
        if why := mail.store.capabilities.why_not(Capability.MARK_READ):
            warn(f"nothing is recorded as read here: {why}")
        elif shown and not args.dry_run:
            sys.stdout.flush()  # what never reached its reader is not marked as read
            mark(mail, reader, shown)
    return 0
