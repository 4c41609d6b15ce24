"""`signalbox checkpoint --as ID`: what `bye` does before an end, for a session that goes on."""

from __future__ import annotations

import argparse

from console.cli.agent_output import CheckpointRow
from console.cli.document import JsonOutput
from console.cli.loading import known_agent, loaded_for_listing, send_waiting
from console.cli.options import mailbox_options, reader_option
from console.cli.plain import put
from console.cli.unfinished import open_mail, print_unfinished, unfinished

OPEN = JsonOutput(CheckpointRow)
OUTPUTS = (OPEN,)

STATUSES = {1: "the agent has unread mail, or questions without an answer"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Agent whose session goes on: a session id", required=True)
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """Send what waits, and list what is unread or unanswered; return 1 if the agent should deal with any of it."""
    send_waiting(args)
    with loaded_for_listing(args) as mail:
        agent = known_agent(mail.mailbox, args.reader)
        open_work = unfinished(mail, agent.session_id)
        if args.json:
            OPEN.put(CheckpointRow(agent.session_id, *map(open_mail, open_work[:3])))
        elif any(open_work[:3]):
            print_unfinished(open_work, agent.session_id, args.store or "", mail.now)
        else:
            put(f"Nothing is open for {agent.session_id}")
    return 1 if open_work.unread or open_work.asked else 0
