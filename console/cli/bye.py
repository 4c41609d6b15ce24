"""`signalbox bye --as ID`: end an agent's session, after a last look at its mail."""

from __future__ import annotations

import argparse

from console.cli.agent_output import ByeRow
from console.cli.document import JsonOutput
from console.cli.loading import known_agent, loaded_for_listing, send_waiting
from console.cli.options import mailbox_options, reader_option
from console.cli.plain import put
from console.cli.read import mark
from console.cli.roster import warn_of_dead_letters, with_status
from console.cli.terminal_io import warn
from console.cli.unfinished import Unfinished, open_mail, print_unfinished, unfinished
from console.errors import Refused
from mailstore.records.roster import Agent
from mailstore.store import Capability

LEFT = JsonOutput(ByeRow)
OUTPUTS = (LEFT,)

STATUSES = {1: "the session did not end: it has unread mail, or questions without an answer"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Agent whose session ends: a session id", required=True)
    parser.add_argument("--freeze", action="store_true", help="Freeze it rather than retire it: its mail waits for it")
    parser.add_argument("--yes", action="store_true", help="Also with unread mail or questions to it without an answer")
    parser.add_argument("--dry-run", action="store_true", help="Only look; change nothing")
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """List what is unread or unanswered; retire the agent if nothing needs it, or with --yes. Raises Refused."""
    action, done = ("freeze", "frozen") if args.freeze else ("retire", "retired")
    if not args.dry_run:
        send_waiting(args)
    with loaded_for_listing(args) as mail:
        agent = known_agent(mail.mailbox, args.reader)
        changed = with_status(mail, agent.session_id, action)  # refused for an agent that has ended already
        open_work = unfinished(mail, agent.session_id)
        is_free = args.yes or not (open_work.unread or open_work.asked)
        why_not = mail.store.capabilities_for(agent.session_id).why_not(Capability.UPDATE_ROSTER)
        is_ending = is_free and not args.dry_run and not why_not
        if is_ending:
            if open_work.seen:
                mark(mail, agent.session_id, [*open_work.seen])
            mail.store.update_agent(changed)
            mail.mailbox.fold([changed], mail.now)
        if args.json:
            LEFT.put(_row(changed if is_ending else agent, open_work))
        else:
            print_unfinished(open_work, agent.session_id, args.store or "", mail.now)
            if is_ending:
                put(f"{agent.session_id} is {done}")
        if not is_free:
            left = " and ".join(Unfinished(open_work.unread, open_work.asked, []).words(agent.session_id))
            raise Refused(
                f"{agent.session_id} was not {done} ({left})", "read and answer them, or repeat with --yes", "E193"
            )
        if why_not and not args.dry_run:
            warn(f"{agent.session_id} can't be {done} here: {why_not}")
        if is_ending and not args.freeze:
            warn_of_dead_letters(mail, changed)
    return 0


def _row(agent: Agent, open_work: Unfinished) -> ByeRow:
    return ByeRow(agent.session_id, agent.status, *map(open_mail, open_work[:3]))
