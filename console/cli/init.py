"""`signalbox init [DIR]`: create an empty mailbox and roster."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.options import json_option
from console.cli.plain import put
from console.render.safe import visible_line
from mailstore.registry import create_store, is_there, store_class


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="DIR", help="Project folder (default: the current one)"
    )
    parser.add_argument("--kind", default="haak", metavar="KIND", help="Kind of mailbox (default: haak)")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Create the mailbox, unless there is one already."""
    kind = store_class(args.kind)
    was_there = is_there(kind, args.folder)
    with create_store(args.kind, args.folder) as store:
        if args.json:
            put_json({"url": store.url, "created": not was_there})
        elif was_there:
            put(f"Mailbox already exists, left unchanged: {visible_line(store.url)}")
        else:
            put(f"Created an empty mailbox: {visible_line(store.url)}")
            put("Next: signalbox roster register adds agents, signalbox send writes, signalbox opens the console")
    return 0
