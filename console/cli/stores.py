"""`signalbox stores`: list the installed kinds of mailbox and what each can't do."""

from __future__ import annotations

import argparse
from textwrap import fill

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import put
from console.cli.setup_output import StoreRow
from mailstore.errors import StoreError
from mailstore.installed_kinds import refreshed
from mailstore.registry import kinds, store_class

ROWS = JsonOutput(list[StoreRow])
OUTPUTS = (ROWS,)

WIDTH = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print each kind and what it can't do, by reason; a kind that can't be loaded is listed with its error."""
    refreshed()
    rows = [_row(kind) for kind in kinds()]
    if args.json:
        ROWS.put(rows)
        return 0
    width = max(len(row.kind) for row in rows)
    for row in rows:
        put(f"{row.kind:{width}}  {row.summary}")
        for reason, actions in _by_reason(row).items():
            words = f"can't {', '.join(actions)}: {reason}"
            put(fill(words, WIDTH, initial_indent=" " * (width + 2), subsequent_indent=" " * (width + 4)))
    return 0


def _row(kind: str) -> StoreRow:
    try:
        store = store_class(kind)
    except StoreError as error:
        return StoreRow(kind, str(error), {})
    return StoreRow(kind, store.summary, {key.value: why for key, why in store.declared.missing.items()})


def _by_reason(row: StoreRow) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for action, reason in row.missing.items():
        result.setdefault(reason, []).append(action.replace("-", " "))
    return result
