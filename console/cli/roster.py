"""`signalbox roster`: list the roster, or register and change an agent."""

from __future__ import annotations

import argparse

import msgspec

from console.cli.agents import agent_row, print_agents
from console.cli.document import put_json
from console.cli.loading import Loaded, loaded
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.problems import Refused, UsedWrongly
from console.render.safe import visible_line
from mailstore.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES
from mailstore.roster import Agent, Status

CHANGES = ("role", "tags", "status", "name", "activity")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", nargs="?", choices=["list", "update"], default="list", help="default: list")
    parser.add_argument("--session-id", metavar="ID", help="the agent to register or change")
    parser.add_argument("--role", metavar="R", help="the role that it holds; empty: none")
    parser.add_argument("--tags", metavar="A,B", help="all the tags that it bears; empty: none")
    parser.add_argument("--status", choices=[status.value for status in Status], help="whether it lives")
    parser.add_argument("--name", metavar="N", help="a name for people to read")
    parser.add_argument("--activity", metavar="A", help="what it is doing")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """List, or write one agent's entry; what is not given stays as it was."""
    given = [name for name in ("session_id", *CHANGES) if getattr(args, name) is not None]
    if args.action == "list":
        if given:
            raise UsedWrongly("list changes nothing", "write signalbox roster update --session-id ID …")
        with loaded(args) as mail:
            print_agents(mail, as_json=args.json)
        return 0
    _check_session(args.session_id)
    with loaded(args) as mail:
        agent = _changed(args, mail)
        mail.store.update_agent(agent)
        mail.mailbox.fold([agent], mail.now)
        if args.json:
            put_json(agent_row(mail, agent))
        else:
            put(visible_line(" ".join((agent.session_id, agent.status.value, agent.role, *agent.tags))))
    return 0


def _check_session(session_id: str | None) -> None:
    if not session_id or not session_id.strip():
        raise UsedWrongly("--session-id is missing", "say which agent: --session-id ID")
    if session_id in BROADCAST_NAMES | USER_NAMES:
        raise Refused(f"{session_id!r} is an address of its own", "choose another session id")
    if any(not char.isprintable() or char.isspace() for char in session_id):
        raise Refused(f"{session_id!r} holds blanks or control characters", "choose another session id")


def _changed(args: argparse.Namespace, mail: Loaded) -> Agent:
    old = mail.mailbox.roster.get(args.session_id)
    agent = old or Agent(session_id=args.session_id, started_at=mail.now)
    wanted = {name: getattr(args, name) for name in CHANGES if getattr(args, name) is not None}
    if "tags" in wanted:
        wanted["tags"] = _tags(wanted["tags"])
    if "status" in wanted:
        wanted["status"] = status = Status(wanted["status"])
        is_dying = status is Status.DEAD and agent.status is not Status.DEAD
        wanted["ended_at"] = mail.now if is_dying else agent.ended_at if status is Status.DEAD else None
    return msgspec.structs.replace(agent, updated=mail.now, **wanted)


def _tags(text: str) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag for tag in (part.strip() for part in text.split(",")) if tag))
    for tag in tags:
        namespace, _, rest = tag.partition(":")
        if namespace not in (*TAG_NAMESPACES, "role") or not rest:
            raise Refused(f"{tag!r} is no tag", "write project:x, concern:x, domain:x or role:x")
    return tags
