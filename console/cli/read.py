"""`signalbox read --as ID`: show an agent's mail; `--mark` records the reads."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing, moment_of, reader_name
from console.cli.messages import message_rows, message_text, texts_of
from console.cli.options import mailbox_options, reader_option
from console.cli.output import MessageRow
from console.cli.plain import put
from console.cli.terminal_io import warn_unregistered
from console.errors import UsedWrongly
from console.hooks.sessions.printed import note_printed
from console.state.unread_mail import reads_of, record, shown_to, unread_mail
from mailstore.delegating import ReadOnly
from mailstore.records.address import role_key
from mailstore.records.message import Message
from mailstore.rules.delivery import State

MESSAGES = JsonOutput(list[MessageRow])
OUTPUTS = (MESSAGES,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Whose mail: a session id, or user", required=True)
    parser.add_argument("--unread", action="store_true", help="Only unread mail")
    parser.add_argument("--since", metavar="TS", help="Only mail since TS: a date, a time, or an age such as 2h or 3d")
    parser.add_argument("--limit", metavar="N", type=int, help="Only the newest N messages")
    parser.add_argument("--mark", action="store_true", help="Mark the printed mail as read")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the mail, oldest first."""
    if args.limit is not None and args.limit < 0:
        raise UsedWrongly("--limit is negative", "use 0 or more", "E113")
    with loaded_for_listing(args) as mail:
        reader = reader_name(mail.mailbox, args.reader)
        warn_if_unknown(mail, reader)
        messages = _selected(args, mail, reader)
        shown: list[Message] = []
        texts = _noted(messages, texts_of(mail, messages), shown)
        if args.json:
            MESSAGES.put(message_rows(mail, messages, texts))
        else:
            for message, text in zip(messages, texts, strict=True):
                put(message_text(mail, message, text or "", own_state(mail, message, reader)))
            if not messages:
                put("No unread mail" if args.unread else "No mail")
        if args.mark:
            sys.stdout.flush()  # what never reached its reader is not marked as read
            mark_printed(mail, reader, shown)
    return 0


def _noted(messages: list[Message], texts: Iterable[str | None], shown: list[Message]) -> Iterator[str | None]:
    """Pass texts on, and note the messages that have one."""
    for message, text in zip(messages, texts, strict=True):
        if text is not None:
            shown.append(message)
        yield text


def _selected(args: argparse.Namespace, mail: Loaded, reader: str) -> list[Message]:
    if args.unread:
        messages = unread_mail(mail.store, mail.mailbox, reader, mail.now)
    else:
        messages = mail.mailbox.inbox(reader, mail.now)
    if args.since is not None:
        since = moment_of("--since", args.since, mail.now)
        messages = [message for message in messages if message.time >= since]
    if args.limit is not None:
        messages = messages[max(0, len(messages) - args.limit) :]
    return messages


def warn_if_unknown(mail: Loaded, reader: str) -> None:
    """Warn of a reader that is not in the roster: most likely a typing error."""
    roster = mail.mailbox.roster
    if len(roster) and roster.get(reader) is None and reader != "user":
        warn_unregistered(reader)


def own_state(mail: Loaded, message: Message, reader: str) -> str:
    """Return the state of a message for one reader; for mail to a role, the state of the role."""
    roster = mail.mailbox.roster
    roles = (role_key(role, roster, mail.mailbox.user) for role in sorted(roster.ever_held(reader)))
    names = (reader, *roles)
    states = mail.mailbox.states(message, mail.now, names)
    for name in names:
        if (standing := states.get(name)) is not None:
            claimed = standing.state is State.READ and standing.by and reader not in standing.by
            return f"read by {', '.join(standing.by)}" if claimed else standing.state.value
    return ""


def mark_printed(mail: Loaded, reader: str, messages: list[Message]) -> None:
    """Record reads of these messages, or leave that to the hooks of the agent's session (docs/decisions/0080)."""
    unread = [message.id for message in messages if not mail.mailbox.has_read(message.id, reader)]
    is_left = unread and not isinstance(mail.store, ReadOnly) and note_printed(mail.store.url, reader, unread, mail.now)
    if not is_left:
        mark(mail, reader, messages)


def mark(mail: Loaded, reader: str, messages: list[Message]) -> list[str]:
    """Record reads of these messages except those already read; return the ids recorded."""
    if isinstance(mail.store, ReadOnly):
        mail.store.mark_read(reader, [message.id for message in messages])  # raises Unsupported with the reason
    reads = reads_of(mail.store, mail.mailbox, reader, messages, mail.now, shown_to(mail.store, reader))
    return record(mail.store, reader, reads)
