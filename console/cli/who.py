"""`signalbox who`: list the agents that are present, what they are doing, and when they were last seen."""

from __future__ import annotations

import argparse

from console.cli.document import put_json
from console.cli.loading import Loaded, loaded
from console.cli.options import mailbox_options
from console.cli.output import PresenceRow
from console.cli.plain import columns, put
from console.cli.settings import settings
from console.render.short_text import age
from console.render.timestamps import iso_time
from console.unread_mail import unread_count, unread_words
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import presence_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--all", action="store_true", help="Include dead agents")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per agent, the most recently seen first."""
    stale_after = settings(is_told=False).stale_seconds
    with loaded(args) as mail:
        agents = [agent for agent in mail.mailbox.roster if args.all or agent.status is not Status.DEAD]
        agents.sort(key=lambda agent: (agent.status is Status.DEAD, -(agent.last_seen or 0.0), agent.session_id))
        rows = [_row(mail, agent, stale_after) for agent in agents]
        if args.json:
            put_json(rows)
        elif rows:
            cells = [(*_cells(row), _last_seen(mail, agent)) for row, agent in zip(rows, agents, strict=True)]
            put(columns(cells, ("agent", "role", "state", "doing", "unread", "last seen")))
        else:
            put("No agents present. Register one with signalbox roster register")
    return 0


def _row(mail: Loaded, agent: Agent, stale_after: float) -> PresenceRow:
    found = presence_of(agent, mail.now, stale_after)
    return PresenceRow(
        session_id=agent.session_id,
        role=agent.role,
        status=agent.status.value,
        state=found.state,
        substate=found.substate,
        last_seen=iso_time(agent.last_seen),
        stale=found.is_stale,
        unread=unread_count(mail.store, mail.mailbox, agent.session_id),
    )


def _cells(row: PresenceRow) -> tuple[str, ...]:
    state = f"{row.state}, stale" if row.stale else row.state
    return row.session_id, row.role, state, row.substate, unread_words(row.unread)


def _last_seen(mail: Loaded, agent: Agent) -> str:
    return "never" if agent.last_seen is None else age(mail.now - agent.last_seen)
