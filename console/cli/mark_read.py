"""`signalbox mark-read --as ID`: record that an agent has read these messages, or acknowledges them."""

from __future__ import annotations

import argparse

from msgspec import UNSET

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded, reader_name
from console.cli.options import mailbox_options, reader_option
from console.cli.output import MarkedRow
from console.cli.plain import put
from console.cli.read import mark, warn_if_unknown
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from console.state.unread_mail import is_kept, unread_mail
from mailstore.records.message import Message

MARKED = JsonOutput(MarkedRow)
OUTPUTS = (MARKED,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Reader: a session id, or user", required=True)
    parser.add_argument("ids", metavar="MSG", nargs="*", help="Message ids")
    parser.add_argument("--all", action="store_true", help="All mail that this agent has not read")
    parser.add_argument(
        "--acknowledge", action="store_true", help="Acknowledge them to their senders too, where the system knows that"
    )
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the records and print how many; write nothing if any id is not mail of that agent."""
    if bool(args.ids) == args.all:
        problem = "both message ids and --all are given" if args.all else "no messages are given"
        raise UsedWrongly(problem, "give message ids, or --all")
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)
        messages = (
            unread_mail(mail.store, mail.mailbox, reader, mail.now) if args.all else _named(mail, reader, args.ids)
        )
        ids = [message.id for message in messages]
        acknowledged = mail.store.acknowledge(reader, ids) if args.acknowledge else 0
        marked = mark(mail, reader, messages)
        if marked and not all(is_kept(mail.store, mail.mailbox, message, reader) for message in messages):
            warn("this kind of mailbox can't record reads: only signalbox knows about them")
    if args.json:
        MARKED.put(MarkedRow(reader, len(marked), marked, acknowledged if args.acknowledge else UNSET))
    else:
        also = f", acknowledged {acknowledged}" if args.acknowledge else ""
        put(f"Marked {len(marked)} as read by {visible_line(reader)}{_rest(len(messages) - len(marked))}{also}")
    return 0


def _rest(already: int) -> str:
    return f" ({already} already read)" if already else ""


def _named(mail: Loaded, reader: str, ids: list[str]) -> list[Message]:
    theirs = {message.id: message for message in mail.mailbox.inbox(reader, mail.now)}
    for message_id in ids:
        if message_id not in mail.mailbox:
            raise Refused(f'no message with id "{message_id}"', "nothing was marked; give full ids", "E175")
        if message_id not in theirs:
            raise Refused(
                f"{message_id} is not addressed to {reader}",
                f"nothing was marked; signalbox read --as {reader} shows its mail",
                "E176",
            )
    return [theirs[message_id] for message_id in dict.fromkeys(ids)]
