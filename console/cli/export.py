"""`signalbox export`: write a query's, view's or thread's messages as a verifiable document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from console.cli.document import JsonLines, JsonOutput
from console.cli.loading import Loaded, find_message, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.search import arrange, search_context
from console.errors import UsedWrongly
from console.export.about import About
from console.export.document import FORMATS, ExportDocument, render, write_new
from console.export.fleet_svg import FleetFigures
from console.render.timestamps import iso_time
from console.state.unread_mail import unread_count
from mailstore.errors import QueryError
from mailstore.overview.bars import bars_since
from mailstore.overview.counting import traffic_picture
from mailstore.overview.standing import FleetStanding, standing
from mailstore.queries.causes import causes
from mailstore.queries.query import parse
from mailstore.queries.search import search
from mailstore.records.message import Message, by_age
from mailstore.records.protocol import PERSON
from mailstore.state.views import View, ViewKind
from mailstore.steps import at_once
from mailstore.transfer.export import Exported, exported

__all__ = ["arrange"]

OUTPUTS = (JsonOutput(ExportDocument, "--format json"), JsonLines(Exported, "--format jsonl"))
"""Written by `render`, in pieces, also into files."""

VIEWS: dict[str, ViewKind] = {
    "all": "all",
    "for-you": "for-you",
    "unread": "unread",
    "dead": "dead",
    "waiting": "waiting",
    "archive": "archive",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", metavar="QUERY", help="What to export (default: everything)")
    parser.add_argument("--format", choices=list(FORMATS), default="json", help="Format (default: json)")
    parser.add_argument("--archive", action="store_true", help="Include archived messages")
    parser.add_argument("--thread", metavar="MSG", help="Export the whole thread of this message")
    parser.add_argument("--why", metavar="MSG", help="Export this message and those that led to it")
    parser.add_argument("--view", choices=list(VIEWS), help="Export the threads of this view")
    parser.add_argument("--output", metavar="FILE", help="Write to FILE, which must not exist yet")
    parser.add_argument("--force", action="store_true", help="Overwrite an existing file")
    mailbox_options(parser, json=False)


def run(args: argparse.Namespace) -> int:
    """Write the document to standard output or to a file."""
    if sum(map(bool, (args.query, args.thread, args.why, args.view))) > 1:
        raise UsedWrongly("QUERY, --thread, --why and --view can't be combined", "use one of them", "E112")
    with loaded_for_listing(args, with_seen=True) as mail:
        messages, selection = _selected(args, mail)
        is_whole = not (args.query or args.thread or args.why or args.view)
        fleet = fleet_of(mail, messages, is_whole=is_whole) if args.format == "html" else None
        about = About(mail.store.url, iso_time(mail.now) or "", selection, fleet)
        pieces = render(args.format, exported(mail.store, mail.mailbox, messages, mail.now), about)
        if args.output is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece.encode("utf-8", "backslashreplace"))
        else:
            write_new(Path(args.output), pieces, is_forced=args.force)
    return 0


def _selected(args: argparse.Namespace, mail: Loaded) -> tuple[list[Message], str]:
    """Return the messages to export, thread by thread in reply order, and a description of the selection."""
    mailbox = mail.mailbox
    if args.why:
        *_, chain = at_once(causes(mailbox, find_message(mailbox, args.why)))
        return [cause.message for cause in chain], f"what led to {args.why}"
    if args.thread:
        roots, wanted = [mailbox.root_of(find_message(mailbox, args.thread).id)], None
        selection = f"the thread of {args.thread}"
    elif args.view:
        roots, wanted, selection = list(mailbox.threads(View(VIEWS[args.view]))), None, f"the view {args.view}"
    else:
        text = " ".join(args.query).strip()
        try:
            query = parse(text, mail.now) if text else None
            places = [message for message in mailbox.messages() if args.archive or not message.archived]
            with search_context(mail) as context:
                found = places if query is None else search(places, query, context)
                wanted = {message.id for message in found}
        except QueryError as error:
            raise UsedWrongly(error.problem, error.remedy) from error
        newest = {
            root: None
            for place in sorted(places, key=by_age)
            if place.id in wanted
            for root in [mailbox.root_of(place.id)]
        }
        roots, selection = list(newest), text or "everything"
    messages = [node.message for root in roots for node in mailbox.tree(root) if node.message is not None]
    return [message for message in messages if wanted is None or message.id in wanted], selection


def fleet_of(mail: Loaded, messages: Sequence[Message], *, is_whole: bool) -> FleetFigures | None:
    """Return the traffic of some messages, None if there is none.

    With `is_whole` they are the whole mailbox: then unread mail, open questions and hot spots belong to it, too.
    """
    times = [message.time for message in messages if message.timed]
    if not times:
        return None
    mailbox, now = mail.mailbox, mail.now
    start = min(min(times), now)
    picture = traffic_picture(mailbox, now, lambda first: bars_since(start, now), {message.id for message in messages})
    stands, unread = FleetStanding(), dict[str, int | None]()
    if is_whole:
        from console.settings.config_file import load_config

        stands = standing(mailbox, now, load_config().config.attention.limits())
        known = [PERSON, *(agent.session_id for agent in mailbox.roster)]
        unread = {name: unread_count(mail.store, mailbox, name) for name in known}
    labels = {channel.tag: mailbox.label(channel.tag) for channel in mailbox.channels()}
    return FleetFigures(picture, stands, {**labels, PERSON: "the user"}, unread)
