"""Change agents' status, role and tags: what that means for mail is shown first, and it can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from console.render.safe import visible_line
from console.render.short_text import age, plural
from console.screens.base_screen import BaseScreen
from console.state.undo_history import UndoableAction
from mailstore.errors import StoreError
from mailstore.queries.time_parse import read_moment
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability
from mailstore.writing.roster_changes import (
    TRANSITIONS,
    changed,
    is_possible,
    not_seen_since,
    read_role,
    read_tags,
    role_effects,
    tag_effects,
)

if TYPE_CHECKING:
    from console.screens.agent_orders import AgentGroup
    from console.screens.menu import MenuChoice

WRITTEN = "This is written to the roster, and can be undone."
LISTED = 12
"""Agents that a plan names; of the others it says how many."""
LONG_AGO = "7d"
UNREAD = {
    "freeze": "will wait until it is resumed",
    "resume": "will be for it to read",
    "retire": "will be dead letters",
}
"""What becomes of an agent's unread mail."""
DONE = {"freeze": "Frozen", "resume": "Resumed", "retire": "Retired"}
KEYS = {"freeze": "f", "resume": "r", "retire": "x"}
TERMINAL_KEY = "p"
PLAN = "retire all not seen for a while"
FIELDS = {"role": "e", "tags": "t"}
"""What of an agent is typed, and the keys."""
NO_VALUE = {
    "role": "can't be a role: it means everybody, or you",
    "tags": "is not a tag: write project:NAME, concern:NAME, domain:NAME or role:NAME",
}


class RosterEdit(Struct, frozen=True):
    """One way to change agents: the verb, what is said of it when it was done, and the fields that it sets.

    `of` returns an agent changed, None where the change does not apply to it.
    """

    verb: str
    done: str
    fields: tuple[str, ...]
    of: Callable[[Agent], Agent | None]


class AgentStatus:
    """Changes what the roster says of agents, after asking."""

    def __init__(
        self,
        screen: BaseScreen[Any],
        done: Callable[[str, str], None] | None = None,
        more: Mapping[MenuChoice, Callable[[], None]] | None = None,
    ) -> None:
        self._screen = screen
        self._more = more or {}
        """What else is offered, and what each does."""
        self._done = done
        """Called with an agent that was changed, and the words that say so."""

    def choose(self, session_id: str, group: AgentGroup | None = None) -> None:
        """Ask what to do with an agent, with a group, or with all that were not seen for a while."""
        self._screen.run_task(self._choose(session_id, group), group="roster", exclusive=True)

    async def _choose(self, session_id: str, group: AgentGroup | None) -> None:
        from console.screens.agent_orders import AgentOrders
        from console.screens.agent_terminal import AgentTerminal, has_process
        from console.screens.menu import Menu, MenuChoice

        screen, session, orders = self._screen, self._screen.session, AgentOrders(self._screen)
        offered = [] if orders.why_not() else await orders.choices(session_id, group)
        reason = session.why_not(Capability.UPDATE_ROSTER, session_id)
        has_terminal = has_process(session, session_id) and not session.observe
        if reason and not (offered or self._more or has_terminal):
            screen.tell(f"Can't change agents here: {reason}")
            return
        agent = None if reason else session.mailbox.roster.get(session_id)
        actions = [action for action in TRANSITIONS if agent is not None and is_possible(agent, action)]
        choices = [MenuChoice(KEYS[action], action, self._mail_of(session_id, action)) for action in actions]
        name = "Agents" if agent is None else f"{session_id} ({agent.status.value})"

        def chosen(number: int | None) -> None:
            if number is None:
                return
            key = choices[number].key
            if (do := self._more.get(choices[number])) is not None:
                do()
            elif order := next((choice for choice in offered if choice.key == key), None):
                self._screen.run_task(orders.give(order), group="orders")
            elif key == TERMINAL_KEY:
                AgentTerminal(self._screen).go(session_id)
            elif key == "o":
                self._ask_since()
            elif agent is not None and key in FIELDS.values():
                self._ask_field(agent, next(field for field in FIELDS if FIELDS[field] == key))
            elif agent is not None:
                self._begin([agent], self._transition(actions[number]))

        if agent is not None and actions:
            values = {"role": agent.role, "tags": ", ".join(agent.tags)}
            choices += [MenuChoice(key, f"{field} …", values[field] or "none") for field, key in FIELDS.items()]
        if not reason:
            choices.append(MenuChoice("o", PLAN))
        choices += [MenuChoice(choice.key, choice.label, choice.note) for choice in offered]
        if has_terminal:
            choices.append(MenuChoice(TERMINAL_KEY, "go to its terminal"))
        choices += self._more
        screen.ask(Menu(visible_line(name), choices, screen.text_styles), chosen)

    def _transition(self, action: str) -> RosterEdit:
        clock = self._screen.session.now

        def of(agent: Agent) -> Agent | None:
            return changed(agent, action, clock()) if is_possible(agent, action) else None

        return RosterEdit(action, DONE[action], ("status", "ended_at"), of)

    def _ask_field(self, agent: Agent, field: str) -> None:
        from console.screens.prompt import Prompt
        from console.widgets.offers import Candidate

        mailbox, name = self._screen.session.mailbox, visible_line(agent.session_id)

        def wrong(text: str) -> str:
            try:
                value = _read(field, text)
            except ValueError as error:
                return f'"{visible_line(str(error))}" {NO_VALUE[field]}'
            return "That is what it has" if value == getattr(agent, field) else ""

        def answered(text: str | None) -> None:
            if text is None:
                return
            value = _read(field, text)
            words = text or "none"
            edit = RosterEdit(
                f"set the {field} of",
                f"{field.capitalize()} {words}",
                (field,),
                lambda it: replace(it, **{field: value}),
            )
            self._begin([agent], edit)

        known = mailbox.roster.roles() if field == "role" else mailbox.roster.tags()
        value = agent.role if field == "role" else ", ".join(agent.tags)
        detail = "Its role, none for no role" if field == "role" else "All its tags, separated by commas"
        candidates = [Candidate(visible_line(each)) for each in known]
        prompt = Prompt(
            f"{field.capitalize()} of {name}",
            value=visible_line(value),
            detail=detail,
            candidates=lambda: candidates,
            check=wrong,
        )
        self._screen.ask(prompt, answered)

    def _mail_of(self, session_id: str, action: str) -> str:
        session = self._screen.session
        number = session.mailbox.own_unread_count(session_id, session.now())
        return f"{plural(number, 'unread message')} {UNREAD[action]}" if number else "no unread mail"

    def _ask_since(self) -> None:
        from console.screens.prompt import Prompt

        session = self._screen.session

        def silent(text: str) -> list[Agent]:
            moment = read_moment(text, session.now())
            agents = [] if moment is None else not_seen_since(session.mailbox, moment)
            return [agent for agent in agents if agent.session_id not in session.hooked.live]

        def wrong(text: str) -> str:
            if read_moment(text, session.now()) is None:
                return "Write an age, such as 7d or 12h, or a date"
            return "" if silent(text) else "All agents that have not ended were seen since"

        def answered(text: str | None) -> None:
            if text:
                self._begin(silent(text), self._transition("retire"))

        detail = "An age, or a date. Agents with a session that hooks know are left out."
        self._screen.ask(Prompt("Retire agents not seen for", value=LONG_AGO, detail=detail, check=wrong), answered)

    def _begin(self, agents: Sequence[Agent], edit: RosterEdit) -> None:
        self._screen.run_task(self._ask(agents, edit), group="roster", exclusive=True)

    async def _ask(self, agents: Sequence[Agent], edit: RosterEdit) -> None:
        """Show what will be written, and what it means, and write it once it is confirmed."""
        from console.screens.ask import Ask

        names = [visible_line(agent.session_id) for agent in agents]
        what = names[0] if len(names) == 1 else f"{len(names):,} agents"
        detail = "\n".join(self._plan(agents, edit))
        question = f"{edit.verb[0].upper()}{edit.verb[1:]} {what}?"
        if await self._screen.ask_and_wait(Ask(question, detail, verb=edit.verb.partition(" ")[0])):
            await self._change(agents, edit, what)
        else:
            self._screen.tell("Nothing was written")

    def _plan(self, agents: Sequence[Agent], edit: RosterEdit) -> list[str]:
        session = self._screen.session
        if edit.verb not in UNREAD:
            return [*_effects(session.mailbox, agents[0], edit), "", WRITTEN]
        number = sum(session.mailbox.own_unread_count(agent.session_id, session.now()) for agent in agents)
        lines = [
            f"{visible_line(agent.session_id)}  {agent.status.value}, {self._seen(agent)}" for agent in agents[:LISTED]
        ]
        if (more := len(agents) - LISTED) > 0:
            lines.append(f"and {more:,} more")
        mail = f"{plural(number, 'unread message')} {UNREAD[edit.verb]}." if number else "No unread mail is concerned."
        return [*lines, "", mail, WRITTEN]

    def _seen(self, agent: Agent) -> str:
        seen = agent.last_seen or agent.updated or agent.started_at
        return "never seen" if seen is None else f"seen {age(self._screen.session.now() - seen)} ago"

    async def _change(self, agents: Sequence[Agent], edit: RosterEdit, what: str) -> None:
        now = self._screen.session.now()
        pairs = [(agent, edit.of(agent)) for agent in map(self._current, agents) if agent is not None]
        before = [agent for agent, new in pairs if new is not None]
        after = [replace(new, updated=now) for _, new in pairs if new is not None]
        written = await self._write(after)
        if not written:
            if not after:
                self._screen.tell("The agents were changed meanwhile: nothing was written")
            return
        words = f"{edit.verb} {what}"
        undo, redo = (partial(self._again, some[: len(written)], edit.fields) for some in (before, after))
        lines = [[_line(it, edit.fields[0]) for it in some] for some in (after, before)]
        self._screen.session.undo_history.add(
            UndoableAction(words, undo, redo, lambda is_undo: lines[is_undo][:LISTED])
        )
        if self._done is not None:
            for agent in written:
                self._done(agent.session_id, edit.done)
        self._screen.redraw()
        self._screen.tell(visible_line(f"{edit.done}: {what} · z: undo"))

    def _current(self, agent: Agent) -> Agent | None:
        return self._screen.session.live.roster.get(agent.session_id)

    def _again(self, agents: Sequence[Agent], fields: Sequence[str]) -> None:
        """Set agents as they were, or again as they were changed; what else their entries say since is kept."""
        self._screen.run_app_task(self._set(agents, fields), group="roster")

    async def _set(self, agents: Sequence[Agent], fields: Sequence[str]) -> None:
        now = self._screen.session.now()
        known = [(current, agent) for agent in agents if (current := self._current(agent)) is not None]
        await self._write(
            [replace(agent, updated=now, **{field: getattr(was, field) for field in fields}) for agent, was in known]
        )
        self._screen.redraw()

    async def _write(self, agents: Sequence[Agent]) -> list[Agent]:
        """Write entries of the roster in order; return those that were written, and report what stopped the rest."""
        session = self._screen.session
        written: list[Agent] = []
        for agent in agents:
            try:
                await asyncio.to_thread(session.store.update_agent, agent)
            except StoreError as error:
                number = f"{len(written)} of {len(agents)} written" if written else "Nothing was written"
                self._screen.report(error, title=number)
                break
            written.append(agent)
        session.live.fold(written, session.clock())
        return written


def _read(field: str, text: str) -> str | tuple[str, ...]:
    """Return a role or tags as they were typed. Raises ValueError with what is not a tag."""
    return read_tags(text) if field == "tags" else read_role(text)


def _line(agent: Agent, field: str) -> str:
    value = getattr(agent, field)
    words = value if isinstance(value, str) else ", ".join(value)
    return visible_line(f"{agent.session_id}: {words or 'none'}")


def _effects(mailbox: Mailbox, agent: Agent, edit: RosterEdit) -> list[str]:
    """Return what another role or other tags mean."""
    if (new := edit.of(agent)) is None:
        return []
    field = edit.fields[0]
    effects = tag_effects(mailbox, agent, new.tags) if field == "tags" else role_effects(mailbox, agent, new.role)
    return [f"{_line(agent, field)} → {_line(new, field).partition(': ')[2]}", *map(visible_line, effects)]
