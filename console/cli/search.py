"""`signalbox search QUERY`: list the messages that match a query, or what agents keep, the newest first."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing
from console.cli.messages import message_rows
from console.cli.options import mailbox_options
from console.cli.output import MessageRow, NoteRow
from console.cli.plain import bold, columns, is_terminal, put
from console.cli.terminal_io import tell, warn
from console.errors import UsedWrongly
from console.render.excerpts import excerpt_of, find_spans
from console.render.short_text import age, shorten_end
from mailstore.errors import QueryError
from mailstore.queries.grouping import BY, By, HitCounts
from mailstore.queries.language.fields import help_text
from mailstore.queries.language.tree import Sought, sought_in
from mailstore.queries.notes import found_notes, line_found
from mailstore.queries.query import Query, parse
from mailstore.queries.search import SearchContext, asks_for_archived, look_up
from mailstore.queries.spelling import respelled
from mailstore.records.details import AgentNote
from mailstore.records.message import Message, by_age
from mailstore.state.mailbox import Mailbox
from mailstore.steps import at_once

MESSAGES = JsonOutput(list[MessageRow])
NOTES = JsonOutput(list[NoteRow], "--notes")


class GroupRow(msgspec.Struct, frozen=True):
    """What was found that has a sender, channel, type or thread in common."""

    by: Annotated[By, "What they have in common."]
    name: Annotated[str, "The sender, the channel's tag, the type, or the id of the thread's first message."]
    messages: Annotated[int, "How many were found."]
    subject: Annotated[str | None, "The thread's subject; null for other groups."]


GROUPS = JsonOutput(list[GroupRow], "--by")
OUTPUTS = (MESSAGES, NOTES, GROUPS)

NOTHING_FOUND = 1
STATUSES = {NOTHING_FOUND: "nothing is found"}
HEADINGS = ("age", "", "message", "sender", "recipients", "subject")
INDENT = " " * 6
SHORTEST_ID = 8
"""Characters of an id that a user sees at least."""
NOTE_HEADINGS = ("day", "kind", "agent", "title", "text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = help_text()
    parser.add_argument("query", nargs="+", metavar="QUERY", help="Words, phrases and fields: see below")
    parser.add_argument("--limit", metavar="N", type=int, help="Only the newest N messages")
    parser.add_argument("--by", choices=BY, help="Count what is found by sender, channel, type or thread")
    parser.add_argument("--archive", action="store_true", help="Include archived messages")
    parser.add_argument("--notes", action="store_true", help="Search what agents note and remember, not messages")
    mailbox_options(parser)


def arrange(words: list[str]) -> list[str]:
    """Protect `-word`, which excludes a word in the query language, from being parsed as an option."""
    return [f" {word}" if _is_excluding(word) else word for word in words]


def _is_excluding(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not word.startswith("--") and word != "-h"


def run(args: argparse.Namespace) -> int:
    """Print the matching messages; return 1 if there are none, as grep does."""
    if args.limit is not None and args.limit < 0:
        raise UsedWrongly("--limit is negative", "use 0 or more", "E113")
    if args.notes and args.by is not None:
        raise UsedWrongly("--by counts messages, not notes", "leave out --by or --notes", "E256")
    with loaded_for_listing(args, with_seen=True) as mail:
        try:
            query = parse(" ".join(args.query), mail.now)
            return _print_notes(args, mail, query) if args.notes else _print_messages(args, mail, query)
        except QueryError as error:
            raise UsedWrongly(error.problem, error.remedy) from error


def _print_messages(args: argparse.Namespace, mail: Loaded, query: Query) -> int:
    with search_context(mail) as context:
        return _print_hits(args, mail, query, context)


def _print_hits(args: argparse.Namespace, mail: Loaded, query: Query, context: SearchContext) -> int:
    batches = look_up(query, context, mail.store.candidates)
    every = sorted((message for batch in batches for message in batch), key=by_age, reverse=True)
    has_archived = args.archive or asks_for_archived(query)
    messages = [message for message in every if has_archived or not message.archived]
    if args.by is not None:
        return _print_groups(args, mail, messages, len(every) - len(messages))
    shown = messages[: args.limit]
    if args.json:
        MESSAGES.put(message_rows(mail, shown))
        return 0 if messages else NOTHING_FOUND
    if shown:
        table = columns([_cells(mail, message) for message in shown], HEADINGS)
        put(_with_excerpts(table, context, shown, query) if is_terminal() else table)
    else:
        put("Nothing found")
        _suggest(mail, context, " ".join(args.query), query)
    _tell_rest(len(messages) - len(shown), len(every) - len(messages), len(_notes(mail, query)))
    return 0 if messages else NOTHING_FOUND


def _print_groups(args: argparse.Namespace, mail: Loaded, messages: Sequence[Message], archived: int) -> int:
    counts = HitCounts(mail.mailbox)
    counts.add(messages)
    groups = counts.groups(args.by)
    rows = [
        GroupRow(
            group.by,
            group.name,
            group.messages,
            mail.mailbox.summary(group.name).subject if args.by == "thread" else None,
        )
        for group in groups[: args.limit]
    ]
    if args.json:
        GROUPS.put(rows)
    elif rows:
        put(columns([(f"{row.messages:,}", row.name, row.subject or "") for row in rows], ("found", args.by, "")))
    else:
        put("Nothing found" if not messages else f"Nothing found has a {args.by}")
    if not args.json:
        _tell_rest(len(groups) - len(rows), archived)
    return 0 if messages else NOTHING_FOUND


def _print_notes(args: argparse.Namespace, mail: Loaded, query: Query) -> int:
    notes = _notes(mail, query)
    shown = notes[: args.limit]
    if args.json:
        NOTES.put([NoteRow(note.agent, note.kind, note.title, note.day, note.source, note.text) for note in shown])
    elif shown:
        texts = sought_in(query).texts
        rows = [(note.day, note.kind, note.agent, note.title, line_found(note.text, texts)) for note in shown]
        put(columns(rows, NOTE_HEADINGS))
    else:
        put("Nothing found")
    if not args.json:
        _tell_rest(len(notes) - len(shown))
    return 0 if notes else NOTHING_FOUND


def _notes(mail: Loaded, query: Query) -> list[AgentNote]:
    """Return what agents keep that matches a query, the newest day first."""
    batches = at_once(found_notes(query, mail.store.agent_notes, mail.mailbox, mail.now))
    return sorted((note for batch in batches for note in batch), key=lambda note: note.time, reverse=True)


def _cells(mail: Loaded, message: Message) -> tuple[str, ...]:
    where = "archive" if message.archived else ""
    to = ", ".join(message.recipients)
    shown = _short_id(mail.mailbox, message.id) if is_terminal() else message.id
    return age(mail.now - message.time), where, shown, message.sender, to, message.subject


def _short_id(mailbox: Mailbox, message_id: str) -> str:
    """Return the beginning of an id that no other message's id has, which commands take for the id."""
    lengths = range(SHORTEST_ID, len(message_id))
    return next((message_id[:end] for end in lengths if len(mailbox.find(message_id[:end])) == 1), message_id)


def _with_excerpts(table: str, context: SearchContext, messages: Sequence[Message], query: Query) -> str:
    """Return the rows of a table, each above the text around its first hit, which is bold."""
    texts = sought_in(query).texts
    head, *rows = table.split("\n")
    lines, room = [head], shutil.get_terminal_size().columns - len(INDENT)
    for row, message in zip(rows, messages, strict=True):
        lines.append(row)
        if excerpt := excerpt_of(context.text(message), texts):
            lines.append(INDENT + _bold_hits(shorten_end(excerpt.led(room), room), texts))
    return "\n".join(lines)


def _bold_hits(text: str, sought: Sequence[Sought]) -> str:
    parts, at = [], 0
    for start, end in find_spans(text, sought):
        parts += [text[at:start], bold(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _suggest(mail: Loaded, context: SearchContext, text: str, query: Query) -> None:
    """Offer the nearest spelling that occurs."""
    for better in at_once(respelled(text.strip(), query, context, mail.store.candidates)):
        tell("no word is spelled like that", f"did you mean {better}?")


def _tell_rest(left_out: int, archived: int = 0, notes: int = 0) -> None:
    """Report matches that are not shown."""
    if left_out:
        tell(f"{left_out:,} more found", "raise --limit to see them")
    if archived:
        tell(f"{archived:,} more found in the archive", "use --archive to include them")
    if notes:
        tell(f"{notes:,} found in what agents note and remember", "use --notes to see them")


@contextmanager
def search_context(mail: Loaded) -> Iterator[SearchContext]:
    """Give what queries are evaluated on; then warn of texts that could not be read."""
    context = SearchContext(mail.mailbox, mail.store.search_text, mail.now)
    try:
        yield context
    finally:
        if number := len(context.unreadable_texts):
            warn(
                f"{f'{number:,} messages' if number > 1 else '1 message'} could not be searched: the text can't be read"
            )
