"""`signalbox init [DIR|URL]`: create an empty mailbox and roster, in a folder or on a server."""

from __future__ import annotations

import argparse
from shlex import quote

from console.cli.document import JsonOutput
from console.cli.options import json_option
from console.cli.plain import put
from console.cli.setup_output import CreatedMailbox
from console.cli.terminal_io import warn
from console.errors import Refused
from console.render.safe import visible_line
from mailstore.registry import create_store, is_there, kind_and_location, store_class
from mailstore.store import Store

CREATED = JsonOutput(CreatedMailbox)
OUTPUTS = (CREATED,)

DEFAULT = "haak"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place",
        nargs="?",
        default=".",
        metavar="PLACE",
        help="Project folder (default: the current one), KIND:PATH, or a server's KIND://HOST[,HOST…]/NAME",
    )
    parser.add_argument("--kind", default="", metavar="KIND", help="Kind of mailbox (default: haak, or the URL's)")
    parser.add_argument(
        "--replicas", type=int, metavar="N", help="Servers of a cluster that each keep a copy, an odd number as a rule"
    )
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Create the mailbox, unless there is one already."""
    kind, location = _named(args)
    was_there = is_there(kind, location)
    if was_there and args.replicas is not None:
        warn("--replicas is for new mailboxes: the copies of this one stay as many as they are")
    with create_store(kind.kind, _with_replicas(kind, location, args.replicas)) as store:
        if args.json:
            CREATED.put(CreatedMailbox(store.url, not was_there))
        elif was_there:
            put(f"Mailbox already exists, left unchanged: {visible_line(store.url)}")
        else:
            put(f"Created an empty mailbox: {visible_line(store.url)}")
            then = "Next"
            if location.startswith("//"):
                put(f"Next: export SIGNALBOX_STORE={quote(visible_line(store.url))}, for all commands")
                then = "Then"
            put(f"{then}: signalbox hook install lets agents hear of their mail (roster register adds others by hand),")
            put("signalbox send writes, signalbox opens the console")
    return 0


def _named(args: argparse.Namespace) -> tuple[type[Store], str]:
    """Return the kind and the location that the words name: a URL names its kind itself."""
    kind, location = kind_and_location(args.place)
    if kind and args.kind and args.kind != kind:
        raise Refused(f"the URL names a {kind} mailbox, not {args.kind}", "leave out --kind", "E247")
    return store_class(kind or args.kind or DEFAULT), location


def _with_replicas(kind: type[Store], location: str, replicas: int | None) -> str:
    if replicas is None:
        return location
    if not kind.most_replicas:
        raise Refused(f"{kind.called()} has no replicas", "leave out --replicas", "E248")
    if not 0 < replicas <= kind.most_replicas:
        raise Refused(
            f"--replicas {replicas} is out of range", f"use 1 to {kind.most_replicas}, an odd number as a rule", "E249"
        )
    return f"{location}{'&' if '?' in location else '?'}replicas={replicas}"
