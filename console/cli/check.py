"""`signalbox check --as ID`: print an agent's unread mail for it to read, and record the reads."""

from __future__ import annotations

import argparse
import sys

from console.cli.document import JsonOutput
from console.cli.loading import loaded, reader_name
from console.cli.messages import message_rows, texts_of
from console.cli.options import mailbox_options, reader_option
from console.cli.output import MessageRow
from console.cli.read import mark_printed, warn_if_unknown
from console.cli.terminal_io import put, warn
from console.errors import UsedWrongly
from console.handout.portion import MOST_CHARACTERS, portion
from console.hooks.provenance import SentByUser
from console.hooks.sessions.printed import printed_to
from console.state.unread_mail import unread_mail
from mailstore.delegating import ReadOnly
from mailstore.store import Capability

MESSAGES = JsonOutput(list[MessageRow])
OUTPUTS = (MESSAGES,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Whose mail: a session id, or user", required=True)
    parser.add_argument("--dry-run", action="store_true", help="Don't mark anything as read")
    parser.add_argument("--limit", metavar="N", type=int, help="Only the oldest N messages; the others stay unread")
    parser.add_argument(
        "--max-chars",
        metavar="N",
        type=int,
        default=MOST_CHARACTERS,
        help=f"At most N characters of whole messages; the others stay unread (default: {MOST_CHARACTERS:,}; 0: all)",
    )
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print unread mail, the oldest first, then record the reads; print nothing if there is none."""
    if args.limit is not None and args.limit < 1:
        raise UsedWrongly("--limit is below 1", "use 1 or more", "E104")
    if args.max_chars < 0:
        raise UsedWrongly("--max-chars is negative", "use 0 (no limit) or more", "E105")
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)
        before = {} if isinstance(mail.store, ReadOnly) else printed_to(mail.store.url, reader, mail.now)
        unread = [
            message for message in unread_mail(mail.store, mail.mailbox, reader, mail.now) if message.id not in before
        ]
        messages, sent = unread[: args.limit], SentByUser(mail.store.url, mail.store.proof)
        printed = portion(
            reader,
            messages,
            lambda places: texts_of(mail, [messages[at] for at in places]),
            args.max_chars,
            more=len(unread) - len(messages),
            store=args.store or "",
            proof_of=sent.proof,
        )
        shown = [messages[at] for at in printed.whole]
        if args.json:
            MESSAGES.put(message_rows(mail, shown, printed.texts))
            for words in printed.left_out():
                warn(words)
        elif text := printed.text():
            put(text)
        if isinstance(mail.store, ReadOnly):
            warn(f"nothing was marked as read: {mail.store.capabilities.why_not(Capability.MARK_READ)}")
        elif not args.dry_run:
            sys.stdout.flush()  # what never reached its reader is not marked as read
            mark_printed(mail, reader, shown)
    return 0
