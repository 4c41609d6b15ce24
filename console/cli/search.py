"""`signalbox search QUERY`: the messages that a query finds, the newest first."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.letters import message_rows
from console.cli.loading import loaded
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.cli.problems import UsedWrongly
from console.render.text import age
from mailstore.errors import ContentGone, QueryError
from mailstore.message import Message
from mailstore.query import parse
from mailstore.search import SearchContext, search
from mailstore.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, fields such as from:ID, is:unread")
    parser.add_argument("--archive", action="store_true", help="look in the archive too")
    mailbox_options(parser)


def arrange(words: list[str]) -> list[str]:
    """Keep `-word`, which excludes a word in the query language, from being taken for an option."""
    return [f" {word}" if _is_excluding(word) else word for word in words]


def _is_excluding(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not word.startswith("--") and word != "-h"


def run(args: argparse.Namespace) -> int:
    """Print the messages found."""
    with loaded(args, with_seen=True) as mail:
        try:
            query = parse(" ".join(args.query), mail.now)
        except QueryError as error:
            raise UsedWrongly(error.problem, error.remedy) from error
        newest_first = reversed(list(mail.mailbox.messages()))
        places = (message for message in newest_first if args.archive or not message.archived)
        context = SearchContext(mail.mailbox, lambda message: text_of(mail.store, message), mail.now)
        found = list(search(places, query, context))
        if args.json:
            put_json(message_rows(mail, found))
        elif found:
            cells = [(age(mail.now - it.time), it.id, it.sender, ", ".join(it.recipients), it.subject) for it in found]
            put(columns(cells, ("age", "message", "sender", "recipients", "subject")))
        else:
            put("nothing found")
    return 0


def text_of(store: Store, message: Message) -> str:
    """Return a message's text; empty where it is gone."""
    try:
        return store.content(message)
    except ContentGone:
        return ""
