"""`signalbox notes [--least N]`: how many notes each agent has written."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Annotated

from msgspec import Struct

from mailstore.errors import Unsupported
from mailstore.own_commands import AlignedRows, CommandAnswer, Program


class NotesWritten(Struct, frozen=True):
    """The notes of a folder."""

    by: Annotated[dict[str, int], "How many each agent wrote, by its name; the most first."]


ANSWERS = {NotesWritten: ()}
STATUSES = {1: "there is no such note"}
USES_MAILBOX = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--least", type=int, default=1, metavar="N", help="Only agents with at least N notes")


def run(args: argparse.Namespace, program: Program) -> CommandAnswer:
    with program.mailbox() as (store, mailbox):
        if store.kind != "notes":
            raise Unsupported(f"{store.called()} has no notes", "name one with --store notes:PATH")
        counted = Counter(message.sender for message in mailbox.messages())
    found = {name: number for name, number in counted.most_common() if number >= args.least}
    rows = AlignedRows([(name, str(number)) for name, number in found.items()], ("agent", "notes"))
    return CommandAnswer([rows], NotesWritten(found), 0 if found else 1)
