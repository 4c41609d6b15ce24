"""`signalbox dead-letters`: what will not be read unless somebody acts."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.loading import loaded
from console.cli.options import mailbox_options
from console.cli.output import DeadLetterRow
from console.cli.plain import columns, put, stamp
from console.render.text import age


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row a letter and recipient, the newest first."""
    with loaded(args) as mail:
        letters = mail.mailbox.dead_letters(mail.now)
    if args.json:
        put_json(
            [
                DeadLetterRow(
                    message_id=letter.message.id,
                    recipient=letter.recipient,
                    state=letter.state.value,
                    since=stamp(letter.since),
                    sender=letter.message.sender,
                    subject=letter.message.subject,
                    reason=letter.reason,
                )
                for letter in letters
            ]
        )
    elif letters:
        cells = [
            (
                letter.state.value,
                "" if letter.since is None else age(mail.now - letter.since),
                letter.message.id,
                letter.recipient,
                letter.message.sender,
                letter.message.subject,
                letter.reason,
            )
            for letter in letters
        ]
        put(columns(cells, ("state", "since", "message", "recipient", "sender", "subject", "why")))
    else:
        put("no dead letters")
    return 0
