"""`signalbox agents`: list the agents, their status and unread mail."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.loading import Loaded, loaded
from console.cli.options import mailbox_options
from console.cli.output import AgentRow
from console.cli.plain import columns, put
from console.render.short_text import age
from console.render.timestamps import iso_time
from console.symbols import AGENTS
from console.unread_mail import unread_count, unread_words
from mailstore.records.roster import Agent


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per agent."""
    with loaded(args) as mail:
        print_agents(mail, as_json=args.json)
    return 0


def print_agents(mail: Loaded, *, as_json: bool) -> None:
    """Print the roster in the order in which agents were first seen."""
    agents = list(mail.mailbox.roster)
    if as_json:
        put_json([agent_row(mail, agent) for agent in agents])
    elif agents:
        put(
            columns(
                [_cells(mail, agent) for agent in agents],
                ("", "agent", "role", "status", "unread", "seen", "tags"),
            )
        )
    else:
        put("No agents. Register one with signalbox roster register")


def agent_row(mail: Loaded, agent: Agent) -> AgentRow:
    """Return an agent with its number of unread messages."""
    return AgentRow(
        session_id=agent.session_id,
        role=agent.role,
        tags=agent.tags,
        status=agent.status.value,
        unread=unread_count(mail.store, mail.mailbox, agent.session_id),
        last_seen=iso_time(agent.last_seen),
    )


def _cells(mail: Loaded, agent: Agent) -> tuple[str, ...]:
    unread = unread_count(mail.store, mail.mailbox, agent.session_id)
    seen = "never" if agent.last_seen is None else age(mail.now - agent.last_seen)
    glyph, status = AGENTS[agent.status].glyph, agent.status.value
    return (glyph, agent.session_id, agent.role, status, unread_words(unread), seen, ", ".join(agent.tags))
