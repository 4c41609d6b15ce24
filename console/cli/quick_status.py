"""`signalbox status` for status bars: what was counted last, at the cost of little more than an empty Python.

Whatever has changed is counted by a process of its own, for the next time. Imports next to nothing, see
docs/decisions/0015.
"""

from __future__ import annotations

import os
import sys
import time

from console.cli.terminal_io import put, tell
from console.hooks.options import options_in
from console.status.format import TMUX, BadFormat, status_json, status_of, status_text
from console.status.numbers import FIELDS, kept_place, load_numbers

FORMS = ("--tmux", "--json")


def quick_status(words: list[str]) -> int | None:
    """Print what is known at once; return the exit status, None where the mailbox is to be counted first."""
    try:
        field, others = options_in(words, ("--store", "--format", "--any"), FORMS)
    except ValueError:
        return None
    names = field["--any"].split(",") if "--any" in field else []
    forms = [name for name in (*FORMS, "--format") if name in field]
    if others or len(forms) != 1 or not set(names) <= set(FIELDS):
        return None
    return print_kept(field.get("--store", ""), TMUX if "--tmux" in field else field.get("--format", ""), names)


def print_kept(given: str, form: str, any_of: list[str]) -> int | None:
    """Print the numbers that were counted last, as JSON for an empty format; recount what has changed.

    Return the exit status; None for a format that can't be read.
    """
    place = kept_place(given)
    kept = load_numbers(place)
    is_certain = kept is not None and kept.is_certain(time.time())
    try:
        text = status_text(form, kept, is_certain=is_certain) if form else status_json(kept, is_certain=is_certain)
    except BadFormat:
        return None
    put(text)
    if kept is not None and kept.problem:
        tell(kept.problem)
    if not is_certain:
        sys.stdout.flush()
        from console.status.numbers import start_counting

        start_counting(place, os.fspath(given))
    if any_of:
        return status_of(any_of, kept, is_certain=is_certain)
    return 1 if kept is not None and not kept.numbers else 0
