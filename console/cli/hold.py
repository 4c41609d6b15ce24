"""`signalbox hold`, `stop` and `release`: keep agents from running tools, through their hooks."""

from __future__ import annotations

import argparse
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.limits import given_limits, limit_options
from console.cli.loading import Loaded, known_agent, loaded
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.cli.terminal_io import tell
from console.errors import Refused, UsedWrongly
from console.hooks.calls import call_lines, calls_file, would_hold
from console.hooks.orders import EVERYBODY, HOLD, LIMIT, STOP
from console.hooks.sessions.hooked_agents import HookedAgents
from console.hooks.sessions.live import hooked_agents
from console.hooks.steering import (
    EFFECTS,
    ENDING_TURNS,
    EVERYWHERE,
    RELEASE,
    Steered,
    everybody,
    everywhere,
    group_of,
    orders_of,
    steer,
    steered,
)
from console.render.short_text import clock
from console.render.timestamps import iso_time
from console.settings.config_file import load_config
from mailstore.errors import reason_of
from mailstore.queries.loops import past_loops

LONGEST = 500


class HeldAgent(msgspec.Struct, frozen=True):
    """An agent that is held or stopped, or is to be."""

    agent: Annotated[str, "Its session id; `*` for all agents of the mailbox."]
    order: Annotated[str, "`hold` or `stop`."]
    since: Annotated[str | None, "When that was asked for: ISO 8601 in UTC."]
    by: Annotated[str, "Who asked for it."]
    why: Annotated[str, "The reason, which the agent reads; may be empty."]
    held: Annotated[bool, "Whether a hook has said that a tool call waits, or was refused."]


AGENTS = JsonOutput(list[HeldAgent])
OUTPUTS = (AGENTS,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    order = parser.prog.split()[-1]
    parser.add_argument("agents", nargs="*", metavar="ID", help="Agents: session ids of the roster, role:NAME or a tag")
    parser.add_argument("--all", action="store_true", help="All agents of the mailbox, also those that are yet to come")
    parser.add_argument("--everywhere", action="store_true", help="All agents of all mailboxes of this user")
    if order == HOLD:
        parser.add_argument("--dry-run", action="store_true", help="Say what limits would have held; hold no agent")
        limit_options(parser, "With --dry-run")
        parser.add_argument("--loops", action="store_true", help="With --dry-run: try [hooks] hold_loops on all mail")
    if order != RELEASE:
        parser.add_argument("--why", default="", metavar="TEXT", help="The reason, which the agent reads")
    mailbox_options(parser, at=False)
    parser.set_defaults(at=None, order=order, why="", dry_run=False, loops=False)


def run(args: argparse.Namespace) -> int:
    """Give the order, or list who is held if no agent is named."""
    if (args.all or args.everywhere) and args.agents:
        raise UsedWrongly("--all is for every agent", "leave out the ids, or leave out --all", "E257")
    limits = given_limits(args, "--dry-run", is_possible=args.dry_run) if args.order == HOLD else {}
    if args.dry_run and not (limits or args.loops):
        raise UsedWrongly("--dry-run needs a limit", "add --most-identical N, --most-hours N or --loops", "E264")
    if args.loops and not args.dry_run:
        raise UsedWrongly("--loops needs --dry-run", "add --dry-run; [hooks] hold_loops = true holds them", "E265")
    why = " ".join(args.why.split())
    if len(why) > LONGEST or not why.isprintable():
        raise Refused("--why is too long or not printable", f"use at most {LONGEST} printable characters", "E258")
    with loaded(args) as mail:
        hooked = hooked_agents(mail.store.url, mail.now)
        if args.dry_run:
            _would_hold(args, mail, hooked, limits)
            return 0
        if args.all or args.everywhere or args.agents:
            try:
                _steer(args, mail, hooked, why)
            except OSError as error:
                raise Refused(
                    f"the order can't be written ({reason_of(error)})", "make the state folder writable", "E259"
                ) from error
        if args.json or not (args.all or args.everywhere or args.agents):
            _list(args, mail, hooked_agents(mail.store.url, mail.now))
    return 0


def _steer(args: argparse.Namespace, mail: Loaded, hooked: HookedAgents, why: str) -> None:
    order, known = args.order, orders_of(mail.store.url)
    agents: list[Steered] = []
    if args.all:
        agents = everybody(mail.store.url) if order != RELEASE else [each for each, _ in known.values()]
        if without := [name for name, hook in hooked.live.items() if not hook.has_gate]:
            tell(f"{', '.join(sorted(without))} can't be held", "install their hooks with --gate")
    if args.everywhere:
        agents = [everywhere()]
    for name in dict.fromkeys(it for typed in args.agents for it in group_of(typed, mail.mailbox.roster) or [typed]):
        if order == RELEASE and name in known:
            agents.append(known[name][0])
            continue
        hook = hooked.live.get(known_agent(mail.mailbox, name).session_id)
        if order == RELEASE:
            tell(f"{name} is not held", "signalbox hold lists who is")
        elif hook is None:
            raise Refused(f"no hook runs for {name}", "install its hooks with --gate, and start its session", "E260")
        elif not hook.has_gate:
            raise Refused(
                f"the hooks of {name} were installed without --gate",
                "use signalbox hook install --gate, and start its session again",
                "E261",
            )
        else:
            agents.append(steered(name, hook))
    steer(mail.store, agents, order, why, mail.mailbox.user, mail.now)
    for agent in agents if not args.json else ():
        whom = "all agents" if agent.agent_id == EVERYBODY else agent.name
        whom += " of all mailboxes" * (agent.name == EVERYWHERE)
        live = hooked.live.get(agent.name)
        more = ", which ends its turn" if order == STOP and live is not None and live.tool in ENDING_TURNS else ""
        put(f"{whom}: {order} asked: {EFFECTS[order]}{more}" if order != RELEASE else f"{whom}: released")


def _list(args: argparse.Namespace, mail: Loaded, hooked: HookedAgents) -> None:
    held = {name for name, hook in hooked.live.items() if hook.is_obeyed}
    known = orders_of(mail.store.url)
    rows = [
        HeldAgent(name, order.what, iso_time(order.since), order.by, order.why, name in held)
        for name, (_, order) in known.items()
    ]
    if args.json:
        AGENTS.put(rows)
    elif rows:
        table = [
            (
                row.agent,
                row.order if row.held else f"{row.order} asked",
                clock(known[row.agent][1].since, mail.now),
                row.why,
            )
            for row in rows
        ]
        put(columns(table, ("agent", "order", "since", "why")))
    else:
        put("No agent is held")


def _would_hold(args: argparse.Namespace, mail: Loaded, hooked: HookedAgents, limits: dict[str, float]) -> None:
    """Print when limits, or loops of mail, would have held the agents, had they been released each time."""
    tool, now = [], mail.now
    if args.loops:
        for loop in past_loops(mail.mailbox, load_config().config.attention.limits()):
            names = [name for name in loop.parties if not args.agents or name in args.agents]
            tool += [(name, loop.since, loop.reason) for name in names]
    for name, hook in sorted(hooked.live.items()):
        if not args.agents or name in args.agents:
            lines = call_lines(calls_file(hook.tool, hook.session_id))
            tool += [(name, at, why) for at, why in would_hold(lines, limits)]
    if args.json:
        AGENTS.put([HeldAgent(name, HOLD, iso_time(at), LIMIT, why, False) for name, at, why in tool])
    elif tool:
        put(columns([(name, clock(at, now), why) for name, at, why in tool], ("agent", "at", "why")))
    else:
        put("No agent would have been held")
