"""`signalbox status`: a mailbox's numbers for status bars and scripts."""

from __future__ import annotations

import argparse
import time
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import put
from console.cli.quick_status import print_kept
from console.errors import UsedWrongly
from console.status.counting import counted
from console.status.format import (
    NONE_ABOVE_0,
    NOT_CERTAIN,
    SENTENCE,
    TMUX,
    BadFormat,
    status_json,
    status_of,
    status_text,
)
from console.status.numbers import FIELDS, kept_place, load_numbers


class StatusRow(msgspec.Struct, frozen=True):
    """A mailbox's numbers, as they were counted last."""

    messages: Annotated[int | None, "How many messages are in it; null if nothing was counted yet."]
    unread: Annotated[int | None, "How many are new to you; null if nothing was counted yet."]
    for_you: Annotated[int | None, "How many of those are to you; null if nothing was counted yet."]
    dead: Annotated[int | None, "How many dead letters there are; null if nothing was counted yet."]
    waiting: Annotated[
        int | None,
        "How many wait for a holder of their role, or for an agent that is frozen; null if nothing was counted yet.",
    ]
    expired: Annotated[int | None, "How many expired before they were read; null if nothing was counted yet."]
    unreadable: Annotated[int | None, "How many lines can't be read; null if nothing was counted yet."]
    quiet: Annotated[int | None, "How many are new to you, but muted or snoozed; null if nothing was counted yet."]
    mailboxes: Annotated[
        dict[str, int], "What is new to you in each of several mailboxes, by their labels; empty for a single one."
    ]
    is_certain: Annotated[bool, "Whether nothing has changed since they were counted."]
    counted_at: Annotated[str | None, "When they were counted; null if nothing was counted yet."]


NUMBERS = JsonOutput(StatusRow)
"""Printed without it, at once, by `console/status/format.py`: importing msgspec would take longer than all else."""

OUTPUTS = (NUMBERS,)

STATUSES = {
    NONE_ABOVE_0: "with --any: none of the numbers is above 0",
    NOT_CERTAIN: "with --any: the mailbox has changed since it was counted: call again, or --wait",
}
EPILOG = f"""\
format:
  {{NAME}}          a number: {", ".join(FIELDS[:4])},
                  {", ".join(FIELDS[4:])}
  {{NAME:TEXT}}     TEXT if the number is not 0; {{}} in it stands for the number
  {{unread@LABEL}}  what is new to you in one of several mailboxes
  {{{{ }}}}           braces

A number that may have changed since it was counted is followed by ~, one that
is not known yet is ?."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--format", metavar="TEXT", help="Print TEXT with numbers, at once: see below")
    parser.add_argument("--tmux", action="store_true", help="Print a segment for tmux's status line, at once")
    parser.add_argument("--any", metavar="A,B", help="Set the exit status by whether one of these numbers is above 0")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="Count first if anything has changed (usual without --format, --tmux and --json)",
    )
    parser.add_argument("--store", metavar="URL", help="Mailbox: KIND:PATH, a path, or KIND://HOST/NAME")
    json_option(parser, "Print one JSON document, at once")


def run(args: argparse.Namespace) -> int:
    """Print the numbers; see STATUSES for what is returned."""
    forms = [name for name, value in (("--format", args.format), ("--tmux", args.tmux), ("--json", args.json)) if value]
    if len(forms) > 1:
        raise UsedWrongly(f"{forms[0]} and {forms[1]} exclude each other", "choose one", "E128")
    names = args.any.split(",") if args.any is not None else []
    for name in names:
        if name not in FIELDS:
            raise UsedWrongly(f'--any can\'t be "{name}"', f"use {', '.join(FIELDS)}", "E133")
    form = "" if args.json else TMUX if args.tmux else args.format or SENTENCE
    try:
        status_text(form, None, is_certain=False)
    except BadFormat as error:
        raise UsedWrongly(f"--format can't be read ({error})", "see signalbox status --help", "E134") from error
    if forms and not args.wait:
        status = print_kept(args.store or "", form, names)
        assert status is not None
        return status
    place = kept_place(args.store or "")
    kept = load_numbers(place)
    if kept is None or not kept.is_certain(time.time()):
        kept = counted(args.store or "", place)
    put(status_json(kept, is_certain=True) if args.json else status_text(form, kept, is_certain=True))
    return status_of(names, kept, is_certain=True)
