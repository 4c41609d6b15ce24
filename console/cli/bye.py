"""`signalbox bye --as ID`: end an agent's session, after a last look at its mail."""

from __future__ import annotations

import argparse

from console.cli.agent_output import ByeRow
from console.cli.document import JsonOutput
from console.cli.loading import known_agent, loaded
from console.cli.options import mailbox_options, reader_option
from console.cli.output import OpenMailRow, OpenMessageRow
from console.cli.plain import columns, put
from console.cli.read import mark
from console.cli.roster import warn_of_dead_letters, with_status
from console.cli.terminal_io import warn
from console.cli.unfinished import Unfinished, unfinished
from console.errors import Refused
from console.handout.portion import typed
from console.render.short_text import age, shorten_end
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.store import Capability

LEFT = JsonOutput(ByeRow)
OUTPUTS = (LEFT,)

MOST_LISTED = 10
WIDEST_SUBJECT = 60

STATUSES = {1: "the session did not end: it has unread mail, or questions without an answer"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    reader_option(parser, "Agent whose session ends: a session id", required=True)
    parser.add_argument("--freeze", action="store_true", help="Freeze it rather than retire it: its mail waits for it")
    parser.add_argument("--yes", action="store_true", help="Also with unread mail or questions to it without an answer")
    parser.add_argument("--dry-run", action="store_true", help="Only look; change nothing")
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """List what is unread or unanswered; retire the agent if nothing needs it, or with --yes. Raises Refused."""
    action, done = ("freeze", "frozen") if args.freeze else ("retire", "retired")
    with loaded(args) as mail:
        agent = known_agent(mail.mailbox, args.reader)
        changed = with_status(mail, agent.session_id, action)  # refused for an agent that has ended already
        found = unfinished(mail, agent.session_id)
        is_free = args.yes or not (found.unread or found.asked)
        why_not = mail.store.capabilities_for(agent.session_id).why_not(Capability.UPDATE_ROSTER)
        is_ending = is_free and not args.dry_run and not why_not
        if is_ending:
            if found.seen:
                mark(mail, agent.session_id, [*found.seen])
            mail.store.update_agent(changed)
            mail.mailbox.fold([changed], mail.now)
        if args.json:
            LEFT.put(_row(changed if is_ending else agent, found))
        else:
            _print(found, agent.session_id, args.store or "", mail.now)
            if is_ending:
                put(f"{agent.session_id} is {done}")
        if not is_free:
            left = " and ".join(Unfinished(found.unread, found.asked, []).words(agent.session_id))
            raise Refused(f"{agent.session_id} was not {done} ({left})", "read and answer them, or repeat with --yes")
        if why_not and not args.dry_run:
            warn(f"{agent.session_id} can't be {done} here: {why_not}")
        if is_ending and not args.freeze:
            warn_of_dead_letters(mail, changed)
    return 0


def _print(found: Unfinished, agent: str, store: str, now: float) -> None:
    read = typed("check", "--as", agent, store=store)
    reply = typed("send", "--from", agent, "--to", "SENDER", "--in-reply-to", "MESSAGE", store=store)
    parts = (
        (Unfinished(found.unread, [], []), f" ({read} prints them and records that they were read)"),
        (Unfinished([], found.asked, []), f" ({reply} answers)"),
        (Unfinished([], [], found.asking), ""),
    )
    for part, hint in parts:
        mail = [*part.unread, *part.asked, *part.asking]
        if not mail:
            continue
        put(f"{part.words(agent)[0]}, oldest first{hint}:")
        put(columns([_cells(message, now) for message in mail[:MOST_LISTED]], ("  age", "from", "to", "subject", "id")))
        if len(mail) > MOST_LISTED:
            put(f"  and {len(mail) - MOST_LISTED} more")
        put("")


def _cells(message: Message, now: float) -> tuple[str, ...]:
    return (
        f"  {age(now - message.time) if message.timed else '?'}",
        shorten_end(message.sender, WIDEST_SUBJECT),
        shorten_end(", ".join(message.recipients), WIDEST_SUBJECT),
        shorten_end(message.subject, WIDEST_SUBJECT),
        message.id,
    )


def _row(agent: Agent, found: Unfinished) -> ByeRow:
    parts = (OpenMailRow(len(mail), [_open(message) for message in mail[:MOST_LISTED]]) for mail in found[:3])
    return ByeRow(agent.session_id, agent.status, *parts)


def _open(message: Message) -> OpenMessageRow:
    return OpenMessageRow(
        message.id, message.sender, message.recipients, message.timestamp, message.subject, message.type
    )
