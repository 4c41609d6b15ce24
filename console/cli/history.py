"""`signalbox history`: list all messages in the order they were sent."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, moment_of
from console.cli.messages import message_rows
from console.cli.options import mailbox_options, type_option
from console.cli.output import MessageRow
from console.cli.plain import columns, put, sent_at
from console.cli.terminal_io import warn
from console.errors import UsedWrongly
from mailstore.records.message import Message

MESSAGES = JsonOutput(list[MessageRow])
OUTPUTS = (MESSAGES,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    type_option(parser, "Only messages of this type (repeatable)")
    parser.add_argument("--from", dest="sender", metavar="ID", help="Only messages from this sender")
    parser.add_argument("--to", metavar="ADDR", help="Only messages to this address")
    parser.add_argument(
        "--since", metavar="TS", help="Only messages since TS: a date, a time, or an age such as 2h or 3d"
    )
    parser.add_argument("--limit", metavar="N", type=int, help="Only the newest N messages")
    parser.add_argument("--archive", action="store_true", help="Include archived messages")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per message, the oldest first."""
    if args.limit is not None and args.limit < 0:
        raise UsedWrongly("--limit is negative", "use 0 or more", "E113")
    with loaded_for_listing(args) as mail:
        messages = _found(args, mail)
        shown = messages if args.limit is None else messages[max(0, len(messages) - args.limit) :]
        if args.json:
            MESSAGES.put(message_rows(mail, shown))
        elif shown:
            cells = [
                (
                    sent_at(message),
                    message.id,
                    message.sender,
                    ", ".join(message.recipients),
                    message.type,
                    message.subject,
                )
                for message in shown
            ]
            put(columns(cells, ("time", "message", "sender", "recipients", "type", "subject")))
        else:
            put("No messages")
        if len(shown) < len(messages):
            warn(f"{len(messages) - len(shown):,} older messages are not shown: raise --limit")
    return 0


def _found(args: argparse.Namespace, mail: Loaded) -> list[Message]:
    since = None if args.since is None else moment_of("--since", args.since, mail.now)
    return [
        message
        for message in mail.mailbox.messages()
        if (args.archive or not message.archived)
        and (not args.type or message.type in args.type)
        and (args.sender is None or message.sender == args.sender)
        and (args.to is None or args.to in message.recipients or args.to in map(mail.mailbox.label, message.recipients))
        and (since is None or message.time >= since)
    ]
