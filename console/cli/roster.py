"""`signalbox roster`: list the roster, register and change agents, freeze, resume and bury them."""

from __future__ import annotations

import argparse

import msgspec

from console.cli.agents import agent_row, print_agents
from console.cli.document import put_json
from console.cli.loading import Loaded, known_agent, loaded
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.problems import Refused, UsedWrongly
from console.cli.terminal_io import warn
from console.render.safe import visible_line
from mailstore.records.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES
from mailstore.records.roster import Agent, Status
from mailstore.rules.delivery import State

CHANGES = ("role", "tags", "status", "name", "activity")
TURNS = {
    "freeze": (Status.FROZEN, (Status.LIVING,)),
    "resume": (Status.LIVING, (Status.FROZEN,)),
    "bury": (Status.DEAD, (Status.LIVING, Status.FROZEN)),
}
"""What an action makes of an agent, and of which agents it can be made."""
ACTIONS = ("list", "register", "update", *TURNS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="default: list")
    parser.add_argument("id", nargs="?", metavar="ID", help="the agent: a session id, or what begins only it")
    parser.add_argument("--session-id", metavar="ID", help="the agent, as an option")
    parser.add_argument("--role", metavar="R", help="the role that it holds; empty: none")
    parser.add_argument("--tags", metavar="A,B", help="all the tags that it bears; empty: none")
    parser.add_argument("--status", choices=[status.value for status in Status], help="whether it lives")
    parser.add_argument("--name", metavar="N", help="a name for people to read")
    parser.add_argument("--activity", metavar="A", help="what it is doing")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """List, or write one agent's entry; what is not given stays as it was."""
    if args.id is not None and args.session_id is not None:
        raise UsedWrongly("two agents are named", "give either ID or --session-id ID")
    session_id = args.session_id if args.id is None else args.id
    given = [name for name in CHANGES if getattr(args, name) is not None]
    if args.action == "list":
        if given or session_id is not None:
            raise UsedWrongly("list changes nothing", "write signalbox roster update --session-id ID …")
        with loaded(args) as mail:
            print_agents(mail, as_json=args.json)
        return 0
    if args.action in TURNS and given:
        raise UsedWrongly(f"{args.action} takes no --{given[0]}", "roster update does")
    _check_session(session_id)
    with loaded(args) as mail:
        agent = _turned(args, mail, session_id) if args.action in TURNS else _changed(args, mail, session_id)
        mail.store.update_agent(agent)
        mail.mailbox.fold([agent], mail.now)
        if args.json:
            put_json(agent_row(mail, agent))
        else:
            put(visible_line(" ".join((agent.session_id, agent.status.value, agent.role, *agent.tags))))
        if args.action == "bury":
            _tell_what_dies(mail, agent)
    return 0


def _check_session(session_id: str | None) -> None:
    if not session_id or not session_id.strip():
        raise UsedWrongly("--session-id is missing", "say which agent: --session-id ID")
    if session_id in BROADCAST_NAMES | USER_NAMES:
        raise Refused(f"{session_id!r} is an address of its own", "choose another session id")
    if any(not char.isprintable() or char.isspace() for char in session_id):
        raise Refused(f"{session_id!r} holds blanks or control characters", "choose another session id")


def _turned(args: argparse.Namespace, mail: Loaded, session_id: str) -> Agent:
    """Return an agent frozen, resumed or buried. Raises Refused for one that can't be."""
    agent = known_agent(mail.mailbox, session_id)
    status, allowed = TURNS[args.action]
    if agent.status not in allowed:
        already = " already" if agent.status is status else ""
        is_dead = agent.status is Status.DEAD
        remedy = "signalbox roster register registers a new session" if is_dead else "signalbox roster lists all"
        raise Refused(f"{agent.session_id} is {agent.status.value}{already}", remedy)
    ended = mail.now if status is Status.DEAD else None
    return msgspec.structs.replace(agent, status=status, ended_at=ended, updated=mail.now)


def _changed(args: argparse.Namespace, mail: Loaded, session_id: str) -> Agent:
    """Return an agent registered or changed."""
    old = mail.mailbox.roster.get(session_id)
    if args.action == "register" and old is not None:
        raise Refused(f"{session_id} is registered and {old.status.value}", "roster update or roster resume changes it")
    if old is None and mail.mailbox.roster.knows_role(session_id):
        warn(f"{session_id!r} is a role too: mail to that name goes to the session from now on")
    agent = old or Agent(session_id=session_id, started_at=mail.now)
    wanted = {name: getattr(args, name) for name in CHANGES if getattr(args, name) is not None}
    if "tags" in wanted:
        wanted["tags"] = _tags(wanted["tags"])
    if "status" in wanted:
        wanted["status"] = status = Status(wanted["status"])
        is_dying = status is Status.DEAD and agent.status is not Status.DEAD
        wanted["ended_at"] = mail.now if is_dying else agent.ended_at if status is Status.DEAD else None
    seen = mail.now if args.action == "register" else agent.last_seen
    return msgspec.structs.replace(agent, updated=mail.now, last_seen=seen, **wanted)


def _tags(text: str) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag for tag in (part.strip() for part in text.split(",")) if tag))
    for tag in tags:
        namespace, _, rest = tag.partition(":")
        if namespace not in (*TAG_NAMESPACES, "role") or not rest:
            raise Refused(f"{tag!r} is no tag", "write project:x, concern:x, domain:x or role:x")
    return tags


def _tell_what_dies(mail: Loaded, agent: Agent) -> None:
    dead = [it for it in mail.mailbox.dead_letters(mail.now) if it.recipient == agent.session_id]
    dead = [it for it in dead if it.state is State.DEAD]
    if dead:
        number = f"{len(dead)} message{'s' * (len(dead) != 1)}"
        warn(f"{number} to {agent.session_id} can't be read any more: signalbox dead-letters lists them")
