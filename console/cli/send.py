"""`signalbox send`: send one message and print its id."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded
from console.cli.messages import message_row
from console.cli.options import mailbox_options
from console.cli.output import MessageRow
from console.cli.plain import put
from console.cli.settings import joined_channels, settings
from console.cli.terminal_io import tell, warn
from console.errors import UsedWrongly
from console.render.safe import visible_line
from mailstore.errors import DraftRefused
from mailstore.queries.questions import QUESTION
from mailstore.records.draft import MAX_BODY_BYTES
from mailstore.store import Capability
from mailstore.writing.choices import OPTIONS, as_lines, is_list

if TYPE_CHECKING:
    from console.sending.delivery import DeliveryService
    from mailstore.writing.sending import Preview

MESSAGE = JsonOutput(MessageRow)
OUTPUTS = (MESSAGE,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="sender", metavar="ID", help="Sender: a session id, or user")
    parser.add_argument(
        "--to",
        action="append",
        metavar="ADDR",
        help="Recipient: a session id, role, tag, #channel, all or user; repeatable, or separated by commas",
    )
    parser.add_argument("--subject", metavar="S", help="Subject")
    parser.add_argument("--body", metavar="B", help="Text; - reads standard input")
    parser.add_argument("--thread", "--in-reply-to", metavar="ID", help="Id of the message you answer")
    parser.add_argument("--ttl-hours", type=int, metavar="N", help="Expire after N hours")
    parser.add_argument("--type", metavar="T", help="Message type, such as question, answer, status, task-assigned")
    parser.add_argument(
        "--meta", action="append", metavar="KEY=VALUE", help="Add to the metadata of the record (repeatable)"
    )
    parser.add_argument(
        "--option",
        action="append",
        metavar="TEXT",
        help="What the question can be answered with, by number (repeatable); makes it a question",
    )
    parser.add_argument("--attach", action="append", metavar="FILE", help="Send a file with it (repeatable)")
    parser.add_argument("--one-of", action="store_true", help="For a role, write only to the holder whose turn it is")
    parser.add_argument("--literal", action="store_true", help="Accept an address of another system as is")
    parser.add_argument(
        "words", nargs="*", metavar="TO SUBJECT BODY", help="Short form; the sender is user unless --from is given"
    )
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Check, send, and print the id; warnings go to standard error."""
    fields = _fields(args)
    with loaded(args, alone=args.one_of) as mail:
        from console.cli.person import agent_mark, require_person
        from mailstore.writing.policy import is_the_user
        from mailstore.writing.sending import one_of, split_addresses

        if args.one_of:
            typed = split_addresses(fields["recipients"], mail.mailbox)
            fields["recipients"] = tuple(one_of(text, mail.mailbox) for text in typed)
        able = mail.store.capabilities_for(fields["recipients"][0])
        if args.option and Capability.METADATA not in able:
            del fields["metadata"][OPTIONS]
            fields["content"] = "\n".join([fields["content"], "", *as_lines(args.option)])
        if args.option and args.type is None and Capability.TYPE in able:
            fields["type"] = QUESTION
        is_user = is_the_user(fields["sender"], mail.mailbox)
        delivery = delivery_into(mail, by_user=is_user and not agent_mark())
        if delivery.allowed and is_user:
            require_person(mail.store.url)
        prepared = delivery.prepare(literal=args.literal, **fields)
        _warn(prepared.reach)
        sent = delivery.send(prepared)
        message = sent.message
        if args.json:
            mail.mailbox.fold([message], mail.now)
            MESSAGE.put(message_row(mail, message))
        else:
            put(visible_line(message.id))
        for line in (*prepared.hearing_lines, *map(str, delivery.wake(prepared, sent))):
            tell(line)
    return 0


def delivery_into(mail: Loaded, *, by_user: bool) -> DeliveryService:
    """Return what a command's messages are sent into, with the policy and the types that wake of the settings; blocks.

    Agents that hear of mail by a hook are those of now.
    """
    from console.hooks.sessions.live import hooked_agents
    from console.sending.delivery import DeliveryService

    given = settings(is_told=False)
    return DeliveryService(
        mail.store,
        mail.mailbox,
        mail.now,
        hooked_agents(mail.store.url, mail.now),
        by_user=by_user,
        wake_types=given.wake_types,
        stale_seconds=given.stale_seconds,
        allowed=given.to_user,
        joined=joined_channels(mail.store.url) if given.to_user else (),
    )


def _fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the draft's fields from either form of the command."""
    sender, to, subject, body = args.sender, args.to or [], args.subject, args.body
    if args.words:
        if len(args.words) != 3 or to or subject is not None or body is not None:
            raise UsedWrongly(
                "the short form takes exactly TO SUBJECT BODY",
                "write send TO SUBJECT BODY, or send --from ID --to ADDR --body B",
                "E126",
            )
        sender = "user" if sender is None else sender
        to, subject, body = [args.words[0]], args.words[1], args.words[2]
    for name, value in (("--from", sender), ("--to", to), ("--body", body)):
        if value is None or value == []:
            raise UsedWrongly(f"{name} is required", "write send --from ID --to ADDR [--subject S] --body B", "E127")
    fields = {
        "sender": sender.strip(),
        "recipients": tuple(to),
        "subject": (subject or "").strip(),
        "content": _standard_input() if body == "-" else body,
        "thread": args.thread,
        "ttl_hours": args.ttl_hours,
        "type": (args.type or "").strip(),
        "metadata": {**_metadata(args.meta or []), **with_options(args.option or ())},
        "attachments": tuple(os.path.abspath(path) for path in args.attach or ()),  # noqa: PTH100 - any text
    }
    for name, value in fields.items():
        _check_text(name, value)
    return fields


def _metadata(words: list[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise UsedWrongly(f'--meta "{word}" is not KEY=VALUE', "write for example --meta branch=main", "E179")
        if key in result:
            raise UsedWrongly(f"--meta {key} is given twice", "use each key once", "E180")
        result[key] = value
    return result


def with_options(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return options of a question as metadata. Raises UsedWrongly unless they are lines to choose from."""
    options = [text.strip() for text in texts]
    if options and not is_list(options):
        raise UsedWrongly(
            "the options are not two to nine short lines that differ",
            "give --option for each, such as --option yes",
            "E253",
        )
    return {OPTIONS: options} if options else {}


def _check_text(name: str, value: object) -> None:
    parts = value if isinstance(value, tuple) else (*value, *value.values()) if isinstance(value, dict) else (value,)
    for text in parts:
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                field = {"content": "body", "sender": "from", "recipients": "to"}.get(name, name)
                raise DraftRefused(field, "is not valid UTF-8", "encode it as UTF-8", "E183") from error


def _standard_input() -> str:
    """Return standard input without its final newline; reads no more than the largest body."""
    try:
        raw = sys.stdin.buffer.read(MAX_BODY_BYTES + 2).removesuffix(b"\n")
    except OSError as error:
        raise DraftRefused("body", "can't be read from standard input", "pipe the text in", "E181") from error
    if len(raw) > MAX_BODY_BYTES:
        raise DraftRefused("body", "is over 1 MiB", "send the path of a file instead", "E178")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DraftRefused("body", "is not valid UTF-8", "encode it as UTF-8", "E182") from error


def _warn(preview: Preview) -> None:
    for text in preview.warnings:
        warn(text)
    for name in preview.unknown:
        warn(f'no agent by the name "{name}": the message is held and listed for review')
    for name in preview.waits:
        warn(f'no agent holds the role "{name}": the message is held until one does')
    for name in preview.dead:
        warn(f"{name} is dead: the message will be a dead letter")
