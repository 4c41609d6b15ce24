"""Freeze, resume and retire agents: what that means for their mail is shown first, and it can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from msgspec.structs import replace

from console.render.safe import visible_line
from console.render.short_text import age, plural
from console.running.stepping import stepped
from console.screens.base_screen import BaseScreen
from console.state.undo_history import UndoableAction
from mailstore.errors import StoreError
from mailstore.queries.time_parse import read_moment
from mailstore.records.roster import Agent
from mailstore.steps import MailboxReloaded
from mailstore.store import Capability
from mailstore.writing.roster_changes import TRANSITIONS, changed, is_possible, not_seen_since, unread_by

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
PLAN = "retire all not seen for a while"


class AgentStatus:
    """Changes what the roster says of agents, after asking."""

    def __init__(self, screen: BaseScreen[Any], done: Callable[[str, str], None] | None = None) -> None:
        self._screen = screen
        self._done = done
        """Called with an agent that was changed, and the words that say so."""

    def choose(self, session_id: str) -> None:
        """Ask what to do with an agent, or with all that were not seen for a while."""
        from console.screens.menu import Menu, MenuChoice

        screen, session = self._screen, self._screen.session
        if reason := session.why_not(Capability.UPDATE_ROSTER, session_id):
            screen.tell(f"Can't change agents here: {reason}")
            return
        agent = session.mailbox.roster.get(session_id)
        actions = [action for action in TRANSITIONS if agent is not None and is_possible(agent, action)]
        choices = [MenuChoice(KEYS[action], action, self._mail_of(session_id, action)) for action in actions]
        name = "Agents" if agent is None else f"{session_id} ({agent.status.value})"

        def chosen(number: int | None) -> None:
            if number == len(actions):
                self._ask_since()
            elif number is not None and agent is not None:
                self._begin([agent], actions[number])

        screen.ask(Menu(visible_line(name), [*choices, MenuChoice("o", PLAN)], screen.text_styles), chosen)

    def _mail_of(self, session_id: str, action: str) -> str:
        session = self._screen.session
        number = sum(1 for _ in unread_by(session.mailbox, session_id, session.now()))
        return f"{plural(number, 'unread message')} {UNREAD[action]}" if number else "no unread mail"

    def _ask_since(self) -> None:
        from console.screens.prompt import Prompt

        session = self._screen.session

        def silent(text: str) -> list[Agent]:
            moment = read_moment(text, session.now())
            found = [] if moment is None else not_seen_since(session.mailbox, moment)
            return [agent for agent in found if agent.session_id not in session.hooked.live]

        def wrong(text: str) -> str:
            if read_moment(text, session.now()) is None:
                return "Write an age, such as 7d or 12h, or a date"
            return "" if silent(text) else "All agents that have not ended were seen since"

        def answered(text: str | None) -> None:
            if text:
                self._begin(silent(text), "retire")

        detail = "An age, or a date. Agents with a session that hooks know are left out."
        self._screen.ask(Prompt("Retire agents not seen for", value=LONG_AGO, detail=detail, check=wrong), answered)

    def _begin(self, agents: Sequence[Agent], action: str) -> None:
        self._screen.run_task(self._ask(agents, action), group="roster", exclusive=True)

    async def _ask(self, agents: Sequence[Agent], action: str) -> None:
        """Show what will be written, and what it means, and write it once it is confirmed."""
        from console.screens.ask import Ask

        names = [visible_line(agent.session_id) for agent in agents]
        what = names[0] if len(names) == 1 else f"{len(names):,} agents"
        try:
            detail = "\n".join(await self._plan(agents, action))
        except MailboxReloaded:
            self._screen.tell("The mailbox was reloaded: nothing was written")
            return
        if await self._screen.ask_and_wait(Ask(f"{action.capitalize()} {what}?", detail, verb=action)):
            await self._change(agents, action, what)
        else:
            self._screen.tell("Nothing was written")

    async def _plan(self, agents: Sequence[Agent], action: str) -> list[str]:
        session, number = self._screen.session, 0
        unread = (sum(1 for _ in unread_by(session.mailbox, it.session_id, session.now())) for it in agents)
        async with aclosing(stepped(unread, session.rest)) as numbers:
            async for each in numbers:
                number += each
        lines = [f"{visible_line(it.session_id)}  {it.status.value}, {self._seen(it)}" for it in agents[:LISTED]]
        if (more := len(agents) - LISTED) > 0:
            lines.append(f"and {more:,} more")
        mail = f"{plural(number, 'unread message')} {UNREAD[action]}." if number else "No unread mail is concerned."
        return [*lines, "", mail, "This is written to the roster, and can be undone."]

    def _seen(self, agent: Agent) -> str:
        seen = agent.last_seen or agent.updated or agent.started_at
        return "never seen" if seen is None else f"seen {age(self._screen.session.now() - seen)} ago"

    async def _change(self, agents: Sequence[Agent], action: str, what: str) -> None:
        now = self._screen.session.now()
        before = [agent for agent in map(self._current, agents) if agent is not None and is_possible(agent, action)]
        after = [changed(agent, action, now) for agent in before]
        written = await self._write(after)
        if not written:
            if not after:
                self._screen.tell("The agents were changed meanwhile: nothing was written")
            return
        words = f"{action} {what}"
        undo, redo = (partial(self._again, some[: len(written)]) for some in (before, after))
        lines = [[f"{visible_line(it.session_id)}: {it.status.value}" for it in some] for some in (after, before)]
        self._screen.session.undo_history.add(
            UndoableAction(words, undo, redo, lambda is_undo: lines[is_undo][:LISTED])
        )
        if self._done is not None:
            for agent in written:
                self._done(agent.session_id, DONE[action])
        self._screen.redraw()
        self._screen.tell(f"{DONE[action]}: {what} · z: undo")

    def _current(self, agent: Agent) -> Agent | None:
        return self._screen.session.live.roster.get(agent.session_id)

    def _again(self, agents: Sequence[Agent]) -> None:
        """Set agents as they were, or again as they were changed; what else their entries say since is kept."""
        self._screen.run_app_task(self._set_status(agents), group="roster")

    async def _set_status(self, agents: Sequence[Agent]) -> None:
        now = self._screen.session.now()
        known = [(it, agent) for agent in agents if (it := self._current(agent)) is not None]
        await self._write([replace(it, status=was.status, ended_at=was.ended_at, updated=now) for it, was in known])
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
