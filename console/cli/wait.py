"""`signalbox wait --as ID`: block until an agent has unread mail, then print it."""

from __future__ import annotations

import argparse
import time

from console.cli.document import JsonOutput
from console.cli.following import News, follow
from console.cli.loading import loaded, reader_name
from console.cli.messages import message_rows, message_text, texts_of
from console.cli.options import mailbox_options, reader_option, type_option
from console.cli.output import MessageRow
from console.cli.plain import put
from console.cli.read import own_state, warn_if_unknown
from console.errors import Refused, UsedWrongly
from console.hooks.sessions.printed import printed_to
from console.state.unread_mail import shown_to, unread_mail
from mailstore.records.message import Message

MESSAGES = JsonOutput(list[MessageRow])
OUTPUTS = (MESSAGES,)

STATUSES = {1: "no mail came in time"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Whose mail: a session id, or user", required=True)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="Give up after SECONDS (default: never)")
    type_option(parser, "Only mail of this type (repeatable)")
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """Print unread mail as soon as there is any; records nothing. Raises Refused on timeout."""
    if args.timeout is not None and not args.timeout >= 0:
        raise UsedWrongly(f"--timeout {args.timeout:g} is out of range", "use 0 seconds or more", "E136")
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)

        shown = shown_to(mail.store, reader)

        def unread() -> list[Message]:
            messages = unread_mail(mail.store, mail.mailbox, reader, time.time(), shown)
            before = printed_to(mail.store.url, reader, time.time())
            return [it for it in messages if it.id not in before and (not args.type or it.type in args.type)]

        def is_enough(news: News) -> bool:
            return isinstance(news, Message) and bool(unread())

        if not unread() and not follow(mail, time.time, is_enough, args.timeout):
            raise Refused(
                f"no mail for {reader} within {args.timeout:g} s", "wait longer, or use signalbox read", "E162"
            )
        found = unread()
        if args.json:
            MESSAGES.put(message_rows(mail, found))
        else:
            for message, text in zip(found, texts_of(mail, found), strict=True):
                put(message_text(mail, message, text or "", own_state(mail, message, reader)))
    return 0
