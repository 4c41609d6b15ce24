"""`signalbox who`: list the agents that are present, what they are doing, and when they were last seen."""

from __future__ import annotations

import argparse

from console.cli.agent_output import PresenceRow
from console.cli.document import JsonOutput
from console.cli.loading import Loaded, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.presences import Presences, since_words
from console.render.short_text import age
from console.state.unread_mail import unread_count, unread_words
from console.words.agent_words import doing_words, state_words
from mailstore.records.roster import Agent, Status

ROWS = JsonOutput(list[PresenceRow])
OUTPUTS = (ROWS,)

HEADS = ("agent", "role", "state", "since", "doing", "unread", "last seen")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="Include dead agents")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per agent, the most recently seen first."""
    with loaded_for_listing(args) as mail:
        presences = Presences(mail)
        agents = [agent for agent in mail.mailbox.roster if args.all or agent.status is not Status.DEAD]
        agents.sort(key=lambda agent: (agent.status is Status.DEAD, -(agent.last_seen or 0.0), agent.session_id))
        if args.json:
            ROWS.put([PresenceRow(**presences.fields(agent)) for agent in agents])
        elif agents:
            put(presences.table(agents, HEADS, lambda agent: _cells(mail, agent, presences)))
        else:
            put("No agents present. Register one with signalbox roster register")
    return 0


def _cells(mail: Loaded, agent: Agent, presences: Presences) -> tuple[str, ...]:
    presence = presences.of(agent)
    unread = unread_words(unread_count(mail.store, mail.mailbox, agent.session_id))
    seen = "never" if presence.age is None else age(presence.age)
    since = since_words(presence, mail.now)
    return agent.session_id, agent.role, state_words(presence), since, doing_words(presence), unread, seen
