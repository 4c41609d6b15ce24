"""`signalbox presence --as ID --state STATE`: record an agent's heartbeat."""

from __future__ import annotations

import argparse

from console.cli.agent_output import AgentRow
from console.cli.agents import agent_row
from console.cli.document import JsonOutput
from console.cli.loading import known_agent, loaded
from console.cli.options import mailbox_options, reader_option
from console.errors import Refused
from mailstore.records.roster import Status
from mailstore.rules.presence import Working, beat, is_due

AGENT = JsonOutput(AgentRow)
OUTPUTS = (AGENT,)

LONGEST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reader_option(parser, "Agent: a session id of the roster", required=True)
    parser.add_argument("--state", required=True, choices=[state.value for state in Working], help="What it is doing")
    parser.add_argument("--substate", default="", metavar="TEXT", help="Details, in a few words")
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None)


def run(args: argparse.Namespace) -> int:
    """Write the heartbeat to the roster, unless the last one is the same and less than a minute old."""
    substate = " ".join(args.substate.split())
    if len(substate) > LONGEST or not substate.isprintable():
        raise Refused("--substate is too long or not printable", f"use at most {LONGEST} printable characters", "E194")
    with loaded(args) as mail:
        agent = known_agent(mail.mailbox, args.reader)
        if agent.status is Status.DEAD:
            raise Refused(
                f"{agent.session_id} is dead", "register a new session with signalbox roster register", "E195"
            )
        beaten = beat(agent, Working(args.state), substate, mail.now)
        if is_due(agent, beaten):
            mail.store.update_agent(beaten)
        if args.json:
            mail.mailbox.fold([beaten], mail.now)
            AGENT.put(agent_row(mail, beaten))
    return 0
