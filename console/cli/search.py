"""`signalbox search QUERY`: list the messages that match a query, the newest first."""

from __future__ import annotations

import argparse
from functools import partial

from console.cli.document import put_json
from console.cli.letters import message_rows
from console.cli.loading import Loaded, loaded
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.cli.terminal_io import tell
from console.errors import UsedWrongly
from console.render.short_text import age
from mailstore.errors import ContentGone, QueryError
from mailstore.optional import candidates
from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext, look_up
from mailstore.records.message import Message, by_age
from mailstore.store import Store

HEADINGS = ("age", "", "message", "sender", "recipients", "subject")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "query", nargs="+", metavar="QUERY", help="Words, phrases, and fields such as from:ID or is:unread"
    )
    parser.add_argument("--limit", metavar="N", type=int, help="Only the newest N messages")
    parser.add_argument("--archive", action="store_true", help="Include archived messages")
    mailbox_options(parser)


def arrange(words: list[str]) -> list[str]:
    """Protect `-word`, which excludes a word in the query language, from being parsed as an option."""
    return [f" {word}" if _is_excluding(word) else word for word in words]


def _is_excluding(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not word.startswith("--") and word != "-h"


def run(args: argparse.Namespace) -> int:
    """Print the matching messages."""
    if args.limit is not None and args.limit < 0:
        raise UsedWrongly("--limit is negative", "use 0 or more")
    with loaded(args, with_seen=True) as mail:
        try:
            query = parse(" ".join(args.query), mail.now)
        except QueryError as error:
            raise UsedWrongly(error.problem, error.remedy) from error
        context = SearchContext(mail.mailbox, lambda message: text_of(mail.store, message), mail.now)
        batches = look_up(query, context, partial(candidates, mail.store))
        every = sorted((message for batch in batches for message in batch), key=by_age, reverse=True)
        found = [message for message in every if args.archive or not message.archived]
        shown = found[: args.limit]
        if args.json:
            put_json(message_rows(mail, shown))
        elif shown:
            put(columns([_cells(mail, message) for message in shown], HEADINGS))
        else:
            put("Nothing found")
        if not args.json:
            _tell_rest(len(found) - len(shown), len(every) - len(found))
    return 0


def _cells(mail: Loaded, message: Message) -> tuple[str, ...]:
    where = "archive" if message.archived else ""
    to = ", ".join(message.recipients)
    return age(mail.now - message.time), where, message.id, message.sender, to, message.subject


def _tell_rest(left_out: int, archived: int) -> None:
    """Report matches that are not shown."""
    if left_out:
        tell(f"{left_out:,} more found", "raise --limit to see them")
    if archived:
        tell(f"{archived:,} more found in the archive", "use --archive to include them")


def text_of(store: Store, message: Message) -> str:
    """Return a message's text; empty where it is gone."""
    try:
        return store.content(message)
    except ContentGone:
        return ""
