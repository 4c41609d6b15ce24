"""`signalbox thread MSG`: print the whole thread of a message, in reply order."""

from __future__ import annotations

import argparse

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, find_message, loaded_for_listing
from console.cli.messages import cancelled_words, message_rows, receipts
from console.cli.options import mailbox_options
from console.cli.output import MessageRow
from console.cli.plain import body, bold, put, sent_at
from console.render.safe import visible_line
from mailstore.errors import ContentGone
from mailstore.kit.bodies import first_line
from mailstore.records.message import Message
from mailstore.state.views import ThreadNode

MESSAGES = JsonOutput(list[MessageRow])
OUTPUTS = (MESSAGES,)

STEP = "  "
DEEPEST = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="MSG", help="Id of any message in the thread, or the start of one")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the thread as a tree, with the state of each message per recipient."""
    with loaded_for_listing(args) as mail:
        nodes = mail.mailbox.tree(_root(mail, args.id))
        if args.json:
            MESSAGES.put(message_rows(mail, [node.message for node in nodes if node.message is not None]))
        else:
            for node in nodes:
                put(branch(mail, node))
    return 0


def _root(mail: Loaded, typed: str) -> str:
    """Return the root of a thread, given by a message or by a missing parent. Raises Refused."""
    if mail.mailbox.message(typed) is None and typed in mail.mailbox.orphans():
        return typed
    return mail.mailbox.root_of(find_message(mail.mailbox, typed).id)


def branch(mail: Loaded, node: ThreadNode) -> str:
    """Return one message of the tree; beyond a certain depth, the depth is written instead of indented."""
    indent = STEP * min(node.depth, DEEPEST)
    deep = f" (depth {node.depth})" if node.depth > DEEPEST else ""
    message = node.message
    if message is None:
        return f"{indent}(missing message {visible_line(node.id)})\n"
    head = f"{message.sender} → {', '.join(message.recipients)}  {sent_at(message)}  {message.id}{deep}"
    try:
        text = mail.store.content(message)
    except ContentGone as error:
        text = f"(the text can't be read: {error.problem})"
    states = mail.mailbox.states(message, mail.now)
    lines = [
        bold(visible_line(head)),
        *(f"  {name}: {visible_line(value)}" for name, value in _facts(mail, message, text)),
    ]
    below = [f"  {line}" for line in receipts(states)]
    return "\n".join(
        [*(indent + line for line in lines), body(text, f"{indent}    "), *(indent + line for line in below), ""]
    )


def _facts(mail: Loaded, message: Message, text: str) -> list[tuple[str, str]]:
    """Return the header fields of a message; tags may tell of an invalid signature or key."""
    subject = message.subject if message.subject != first_line(text) else ""
    by = cancelled_words(mail, message)
    facts = (("subject", subject), ("type", message.type), ("tags", ", ".join(message.tags)), ("cancelled", by))
    return [(name, value) for name, value in facts if value]
