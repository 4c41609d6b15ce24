"""`signalbox watch`: print a line for each event in the mailbox, until interrupted."""

from __future__ import annotations

import argparse
import sys
import time

from console.cli.document import JsonLines
from console.cli.following import News, follow
from console.cli.loading import Loaded, loaded, reader_name
from console.cli.messages import message_row
from console.cli.options import json_option, mailbox_options, reader_option, type_option
from console.cli.output import HappeningRow
from console.cli.plain import put
from console.cli.read import warn_if_unknown
from console.render.safe import visible_line
from console.render.timestamps import iso_time
from console.words.cut_off_words import back_line, cut_off_line
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent
from mailstore.state.connections import CutOff

HAPPENINGS = JsonLines(HappeningRow)
OUTPUTS = (HAPPENINGS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Only mail for this agent, and its own reads")
    type_option(parser, "Only messages of this type (repeatable)")
    mailbox_options(parser, json=False, at=False)
    json_option(parser, "Print a line of JSON for each event")
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """Print a line for each event: a message, a read, a new or changed agent, a mailbox that is cut off or back."""
    with loaded(args) as mail:
        reader = reader_name(mail.mailbox, args.reader) if args.reader else None
        if reader:
            warn_if_unknown(mail, reader)

        def tell(news: News) -> bool:
            if _is_wanted(mail, news, reader, args.type):
                if args.json:
                    HAPPENINGS.put(_row(mail, news))
                else:
                    put(_line(news))
                    sys.stdout.flush()
            return False

        def tell_connection(lost: CutOff, is_lost: bool) -> None:
            if args.json:
                HAPPENINGS.put(_connection_row(lost, is_lost=is_lost))
            else:
                now = time.time()
                words = cut_off_line(lost, now) if is_lost else back_line(lost, now)
                put(f"{iso_time(now)} {words}")
                sys.stdout.flush()

        follow(mail, time.time, tell, tell_connection=tell_connection)
    return 0


def _is_wanted(mail: Loaded, news: News, reader: str | None, types: list[str] | None) -> bool:
    match news:
        case Message():
            is_theirs = reader is None or mail.mailbox.is_for(news, reader)
            return is_theirs and (not types or news.type in types)
        case Receipt():
            return not types and reader in (None, news.reader)
        case Agent():
            return not types and reader in (None, news.session_id)


def _line(news: News) -> str:
    match news:
        case Message():
            kind = f" [{news.type}]" if news.type else ""
            words = f"message {news.id} {news.sender} → {', '.join(news.recipients)}{kind}: {news.subject}"
        case Receipt():
            words = f"read {news.message_id} by {news.reader}"
        case Agent():
            doing = f", {news.activity}" if news.activity else ""
            words = f"agent {news.session_id} is {news.status.value}{doing}"
    return f"{iso_time(time.time())} {visible_line(words)}"


def _connection_row(lost: CutOff, *, is_lost: bool) -> HappeningRow:
    return HappeningRow(
        event="cut-off" if is_lost else "back",
        at=iso_time(time.time()) or "",
        mailbox=lost.label,
        since=iso_time(lost.since),
        reason=lost.reason if is_lost else "",
    )


def _row(mail: Loaded, news: News) -> HappeningRow:
    at = iso_time(time.time()) or ""
    match news:
        case Message():
            return HappeningRow(event="message", at=at, message=message_row(mail, news))
        case Receipt():
            return HappeningRow(event="read", at=at, message_id=news.message_id, reader=news.reader)
        case Agent():
            return HappeningRow(event="agent", at=at, session_id=news.session_id, status=news.status.value)
