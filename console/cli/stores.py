"""`signalbox stores`: the kinds of mailbox that are installed, and what each of them can't do."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.options import json_option
from console.cli.output import StoreRow
from console.cli.plain import columns, put
from mailstore.errors import StoreError
from mailstore.registry import kinds, store_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row a kind; one that can't be loaded is told, and hides no other."""
    rows = [_row(kind) for kind in kinds()]
    if args.json:
        put_json(rows)
    else:
        put(columns([_cells(row) for row in rows], ("kind", "what it is", "what it can't do")))
    return 0


def _row(kind: str) -> StoreRow:
    try:
        found = store_class(kind)
    except StoreError as error:
        return StoreRow(kind, str(error), {})
    return StoreRow(kind, found.summary, {key.value: why for key, why in found.capabilities.missing.items()})


def _cells(row: StoreRow) -> tuple[str, str, str]:
    return row.kind, row.summary, "; ".join(f"{what}: {why}" for what, why in row.missing.items())
