"""`signalbox read --as ID`: an agent's mail, and with `--mark` the records that it was read."""

from __future__ import annotations

import argparse
import sys

from console.cli.document import put_json
from console.cli.letters import letter, message_rows
from console.cli.loading import Loaded, loaded, moment_of, reader_name
from console.cli.options import mailbox_options, reader_option
from console.cli.plain import put
from console.cli.problems import UsedWrongly
from console.cli.terminal_io import warn
from console.unseen import reads_of, record, shown_to, unseen
from mailstore.read_only import ReadOnly
from mailstore.records.address import role_key
from mailstore.records.message import Message
from mailstore.rules.delivery import State


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    reader_option(parser, "whose mail: a session id, or user", required=True)
    parser.add_argument("--unread", action="store_true", help="only what it has still to read")
    parser.add_argument("--since", metavar="TS", help="only mail from this time on: a date, a time, or 2h, 3d")
    parser.add_argument("--limit", metavar="N", type=int, help="only the newest N")
    parser.add_argument("--mark", action="store_true", help="record that it has read what is printed")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the mail, oldest first."""
    if args.limit is not None and args.limit < 0:
        raise UsedWrongly("--limit is less than nothing", "give a number from 0")
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)
        messages = _selected(args, mail, reader)
        if args.json:
            put_json(message_rows(mail, messages))
        else:
            for message in messages:
                put(letter(mail, message, own_state(mail, message, reader)))
            if not messages:
                put(f"no {'unread ' if args.unread else ''}mail")
        if args.mark:
            sys.stdout.flush()  # what never reached its reader is not marked as read
            mark(mail, reader, messages)
    return 0


def _selected(args: argparse.Namespace, mail: Loaded, reader: str) -> list[Message]:
    if args.unread:
        messages = unseen(mail.store, mail.mailbox, reader, mail.now)
    else:
        messages = mail.mailbox.inbox(reader, mail.now)
    if args.since is not None:
        since = moment_of("--since", args.since, mail.now)
        messages = [message for message in messages if message.time >= since]
    if args.limit is not None:
        messages = messages[max(0, len(messages) - args.limit) :]
    return messages


def warn_if_unknown(mail: Loaded, reader: str) -> None:
    """Warn of a reader that the roster does not know: most likely a slip of the pen."""
    roster = mail.mailbox.roster
    if len(roster) and roster.get(reader) is None and reader != "user":
        warn(f"the roster does not know {reader!r}: signalbox agents lists whom it knows")


def own_state(mail: Loaded, message: Message, reader: str) -> str:
    """Return what a message is to one reader, for mail to a role that of the role."""
    states = mail.mailbox.states(message, mail.now)
    roster = mail.mailbox.roster
    roles = (role_key(role, roster, mail.mailbox.user) for role in sorted(roster.ever_held(reader)))
    for name in (reader, *roles):
        if (found := states.get(name)) is not None:
            claimed = found.state is State.READ and found.by and reader not in found.by
            return f"read by {', '.join(found.by)}" if claimed else found.state.value
    return ""


def mark(mail: Loaded, reader: str, messages: list[Message]) -> list[str]:
    """Record that a reader has read just these, those it has read already excepted; return their ids."""
    if isinstance(mail.store, ReadOnly):
        mail.store.mark_read(reader, [message.id for message in messages])  # refuses, and says why
    reads = reads_of(mail.store, mail.mailbox, reader, messages, mail.now, shown_to(mail.store, reader))
    return record(mail.store, reader, reads)
