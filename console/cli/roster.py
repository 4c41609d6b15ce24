"""`signalbox roster`: list the roster; register, update, freeze, resume and retire agents."""

from __future__ import annotations

import argparse

import msgspec

from console.cli.agent_output import AgentRow
from console.cli.agents import agent_row, print_agents
from console.cli.document import JsonOutput
from console.cli.loading import Loaded, known_agent, loaded, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.terminal_io import warn
from console.cli.unfinished import unfinished
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent, Status
from mailstore.rules.delivery import State
from mailstore.writing.roster_changes import TRANSITIONS, changed, is_possible, read_role, read_tags

AGENT = JsonOutput(AgentRow, "register", "update", "freeze", "resume", "retire")
OUTPUTS = (JsonOutput(list[AgentRow], "list"), AGENT)

CHANGES = ("role", "tags", "status", "name", "activity")
ACTIONS = {
    "list": "List all agents",
    "register": "Add an agent",
    "update": "Change what is given of an agent, which is added if it is unknown",
    "freeze": "Freeze an agent: its mail waits for it",
    "resume": "Set a frozen agent living again",
    "retire": "End an agent for good: its unread mail becomes dead letters",
}
ALIASES = {"bury": "retire"}
"""Former names of actions, still accepted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", type=_action, choices=ACTIONS, default="list", help="What to do (default: list)"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="Agent: a session id, or the unique start of one")
    parser.add_argument("--session-id", metavar="ID", help="Same as ID")
    parser.add_argument("--role", metavar="R", help="Its role (empty: none)")
    parser.add_argument("--tags", metavar="A,B", help="All its tags (empty: none)")
    parser.add_argument("--status", choices=[status.value for status in Status], help="Its status")
    parser.add_argument("--name", metavar="N", help="Display name")
    parser.add_argument("--activity", metavar="A", help="What it is doing")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the roster, or write one agent's entry; fields not given stay unchanged."""
    if args.id is not None and args.session_id is not None:
        raise UsedWrongly("both ID and --session-id are given", "use one of them", "E119")
    session_id = args.session_id if args.id is None else args.id
    given = [name for name in CHANGES if getattr(args, name) is not None]
    if args.action == "list":
        if given or session_id is not None:
            raise UsedWrongly(
                "list takes no agent and no changes", "write signalbox roster update --session-id ID …", "E122"
            )
        with loaded_for_listing(args) as mail:
            print_agents(mail, as_json=args.json)
        return 0
    if args.action in TRANSITIONS and given:
        raise UsedWrongly(f"--{given[0]} can't be used with {args.action}", "use it with roster update", "E120")
    _check_session(session_id)
    with loaded(args) as mail:
        is_ending = args.action == "retire"
        if args.action in TRANSITIONS:
            agent = with_status(mail, session_id, args.action)
        else:
            agent = _updated(args, mail, session_id)
        left = unfinished(mail, agent.session_id).words(agent.session_id) if is_ending else []
        mail.store.update_agent(agent)
        mail.mailbox.fold([agent], mail.now)
        if args.json:
            AGENT.put(agent_row(mail, agent))
        else:
            put(visible_line(" ".join((agent.session_id, agent.status.value, agent.role, *agent.tags))))
        if left:
            warn(f"it ended with {', '.join(left)}: signalbox bye lists these before it retires an agent")
        if is_ending:
            warn_of_dead_letters(mail, agent)
    return 0


def _action(word: str) -> str:
    return ALIASES.get(word, word)


def _check_session(session_id: str | None) -> None:
    if not session_id or not session_id.strip():
        raise UsedWrongly("no agent is given", "name it with --session-id ID", "E121")
    if session_id in BROADCAST_NAMES | USER_NAMES:
        raise Refused(f'"{session_id}" is a reserved address', "choose another session id", "E196")
    if any(not char.isprintable() or char.isspace() for char in session_id):
        raise Refused(f'"{session_id}" contains spaces or control characters', "choose another session id", "E197")


def with_status(mail: Loaded, session_id: str, action: str) -> Agent:
    """Return an agent frozen, resumed or retired. Raises Refused where its status forbids it."""
    agent = known_agent(mail.mailbox, session_id)
    if not is_possible(agent, action):
        already = "already " if agent.status is TRANSITIONS[action][0] else ""
        is_dead = agent.status is Status.DEAD
        remedy = "register a new session with roster register" if is_dead else "signalbox roster lists all agents"
        raise Refused(f"{agent.session_id} is {already}{agent.status.value}", remedy, "E192")
    return changed(agent, action, mail.now)


def _updated(args: argparse.Namespace, mail: Loaded, session_id: str) -> Agent:
    """Return an agent registered or updated."""
    old = mail.mailbox.roster.get(session_id)
    if args.action == "register" and old is not None:
        raise Refused(
            f"{session_id} is already registered ({old.status.value})", "use roster update or roster resume", "E198"
        )
    if old is None and mail.mailbox.roster.knows_role(session_id):
        warn(f'"{session_id}" is also a role: mail to that name now goes to the session')
    agent = old or Agent(session_id=session_id, started_at=mail.now)
    wanted = {name: getattr(args, name) for name in CHANGES if getattr(args, name) is not None}
    if "tags" in wanted:
        wanted["tags"] = _tags(wanted["tags"])
    if "role" in wanted:
        wanted["role"] = _role(wanted["role"])
    if "status" in wanted:
        wanted["status"] = status = Status(wanted["status"])
        is_dying = status is Status.DEAD and agent.status is not Status.DEAD
        wanted["ended_at"] = mail.now if is_dying else agent.ended_at if status is Status.DEAD else None
    seen = mail.now if args.action == "register" else agent.last_seen
    return msgspec.structs.replace(agent, updated=mail.now, last_seen=seen, **wanted)


def _role(text: str) -> str:
    try:
        return read_role(text)
    except ValueError as error:
        raise Refused(f'"{error}" can\'t be a role', "choose another name", "E255") from error


def _tags(text: str) -> tuple[str, ...]:
    try:
        return read_tags(text)
    except ValueError as error:
        raise Refused(
            f'"{error}" is not a tag', "write project:NAME, concern:NAME, domain:NAME or role:NAME", "E199"
        ) from error


def warn_of_dead_letters(mail: Loaded, agent: Agent) -> None:
    """Warn of mail that an agent that has ended will not read."""
    dead = [
        dead_letter for dead_letter in mail.mailbox.dead_letters(mail.now) if dead_letter.recipient == agent.session_id
    ]
    dead = [dead_letter for dead_letter in dead if dead_letter.state is State.DEAD]
    if dead:
        number = f"{len(dead)} message{'s' * (len(dead) != 1)}"
        warn(f"{number} to {agent.session_id} will not be read: signalbox dead-letters lists them")
