"""`signalbox agents`: list the agents, their status and unread mail."""

from __future__ import annotations

import argparse

from console.cli.agent_output import AgentRow, FactRow, usage_row
from console.cli.document import JsonOutput
from console.cli.loading import Loaded, known_agent, loaded_for_listing
from console.cli.options import mailbox_options
from console.cli.plain import put
from console.cli.presences import Presences, since_words
from console.render.safe import visible, visible_line
from console.render.short_text import age, shorten_end
from console.state.unread_mail import unread_count, unread_words
from console.words.agent_words import context_words, presence_symbol, state_words, token_words
from mailstore.records.roster import Agent

ROWS = JsonOutput(list[AgentRow])
OUTPUTS = (ROWS,)

WARNING = "⚠ "
LONGEST_WARNING = 80
USED = ("context", "tokens/d")
HEADS = ("", "agent", "role", "state", "since", "unread", "seen", "tags")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="Show all that is known about this one")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print one row per agent, or everything about one."""
    with loaded_for_listing(args) as mail:
        if args.agent is None:
            print_agents(mail, as_json=args.json)
        else:
            _print_agent(mail, known_agent(mail.mailbox, args.agent), as_json=args.json)
    return 0


def _print_agent(mail: Loaded, agent: Agent, *, as_json: bool) -> None:
    presences = Presences(mail)
    row = agent_row(mail, agent, presences)
    if as_json:
        ROWS.put([row])
        return
    cells = zip((*HEADS, "hook"), (*_cells(mail, agent, presences), presences.hook_words(agent)), strict=True)
    known = [(name, value) for name, value in cells if name and value]
    known += [(fact.name, f"{WARNING * fact.warning}{fact.value}") for fact in row.facts]
    width = max(len(name) for name, _ in known)
    for name, value in known:
        first, *more = visible(value).split("\n")
        put(f"{visible_line(name):<{width}}  {first}".rstrip())
        for line in more:
            put(f"{'':<{width}}  {line}".rstrip())


def print_agents(mail: Loaded, *, as_json: bool) -> None:
    """Print the roster in the order in which agents were first seen."""
    agents, presences = list(mail.mailbox.roster), Presences(mail)
    if as_json:
        ROWS.put([agent_row(mail, agent, presences) for agent in agents])
    elif agents:
        warnings = {agent.session_id: _warning_words(presences, agent) for agent in agents}
        has_used, has_warnings = bool(presences.usage), any(warnings.values())
        heads = (*HEADS, *(USED if has_used else ()), *(("warning",) if has_warnings else ()))

        def cells(agent: Agent) -> tuple[str, ...]:
            used = _used_cells(presences, agent) if has_used else ()
            warning = (warnings[agent.session_id],) if has_warnings else ()
            return (*_cells(mail, agent, presences), *used, *warning)

        put(presences.table(agents, heads, cells))
    else:
        put("No agents. Register one with signalbox roster register")


def _warning_words(presences: Presences, agent: Agent) -> str:
    """Return what the mailbox warns of about an agent, such as the last error of its watcher."""
    facts = (fact for fact in presences.facts(agent) if fact.is_warning)
    return "; ".join(shorten_end(visible_line(f"{fact.name}: {fact.value}"), LONGEST_WARNING) for fact in facts)


def _used_cells(presences: Presences, agent: Agent) -> tuple[str, str]:
    used = presences.usage.get(agent.session_id)
    return (context_words(used), token_words(used.tokens) if used.tokens else "") if used is not None else ("", "")


def agent_row(mail: Loaded, agent: Agent, presences: Presences | None = None) -> AgentRow:
    """Return an agent with its number of unread messages and what it is doing."""
    presences = presences or Presences(mail)
    return AgentRow(
        tags=agent.tags,
        facts=tuple(FactRow(fact.name, fact.value, fact.source, fact.is_warning) for fact in presences.facts(agent)),
        usage=usage_row(presences.usage.get(agent.session_id)),
        **presences.fields(agent),
    )


def _cells(mail: Loaded, agent: Agent, presences: Presences) -> tuple[str, ...]:
    presence = presences.of(agent)
    unread = unread_words(unread_count(mail.store, mail.mailbox, agent.session_id))
    seen = "never" if presence.age is None else age(presence.age)
    words = presence_symbol(agent, presence).glyph, agent.session_id, agent.role, state_words(presence)
    return (*words, since_words(presence, mail.now), unread, seen, ", ".join(agent.tags))
