"""Hold, stop and release agents from the console: whom it reaches is shown first, and it can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from console.hooks.orders import HOLD, LIMIT, STOP, Order
from console.hooks.steering import (
    EFFECTS,
    ENDING_TURNS,
    NOTES,
    RELEASE,
    Steered,
    everybody,
    held_among,
    orders_of,
    steer,
    steered,
    why_not,
)
from console.render.safe import visible_line
from console.render.short_text import clock, plural
from console.screens.base_screen import BaseScreen
from console.session import PAST
from console.state.undo_history import UndoableAction
from mailstore.errors import MailError
from mailstore.queries.concerns import Concern, ConcernKind
from mailstore.records.message import Intervention

KEYS = {HOLD: "h", STOP: "s", RELEASE: "l"}
GROUP_KEY = "g"
ALL_KEYS = {HOLD: "H", RELEASE: "L"}
DONE = {HOLD: "Hold asked", STOP: "Stop asked", RELEASE: "Released"}
LISTED = 12
GATE = "signalbox hook install --gate lets agents be held"


LOOPS = "loops.held"
"""The name under which is remembered which agents were held for a loop, and when."""
LOOP_HELD = "Held: they kept each other busy"


class AgentGroup(Struct, frozen=True):
    """Agents that get an order together, and what they are called together."""

    label: str
    names: tuple[str, ...]


class OrderChoice(Struct, frozen=True):
    """An order that can be given: its key, whom to, and what is said of it; `problem` is why it can't be."""

    key: str
    label: str
    note: str
    what: str
    agents: tuple[Steered, ...] = ()
    problem: str = ""


class AgentOrders:
    """Gives orders to agents' hooks, after asking for the reason that the agents read."""

    def __init__(self, screen: BaseScreen[Any]) -> None:
        self._screen = screen

    async def choices(self, session_id: str, group: AgentGroup | None = None) -> list[OrderChoice]:
        """Return what can be asked of an agent, of a group, and of all together."""
        session = self._screen.session
        known = await asyncio.to_thread(orders_of, session.url)
        live = session.hooked.live
        choices: list[OrderChoice] = []
        if session_id in known:
            agent, order = known[session_id]
            since = clock(order.since, session.now())
            choices.append(OrderChoice(KEYS[RELEASE], "release", f"{order.what} since {since}", RELEASE, (agent,)))
            if order.what == HOLD:
                choices.append(OrderChoice(KEYS[STOP], STOP, NOTES[STOP], STOP, (agent,)))
        elif hook := live.get(session_id):
            reason = why_not(hook)
            for what in (HOLD, STOP):
                choices.append(
                    OrderChoice(KEYS[what], what, reason or NOTES[what], what, (steered(session_id, hook),), reason)
                )
        members = {} if group is None else held_among(group.names, session.hooked)
        if group is not None and members:
            some = tuple(steered(name, hook) for name, hook in members.items())
            choices.append(OrderChoice(GROUP_KEY, f"hold {group.label}", plural(len(some), "agent"), HOLD, some))
        number = sum(hook.has_gate for hook in live.values())
        if number:
            every = tuple(everybody(session.url))
            choices.append(OrderChoice(ALL_KEYS[HOLD], "hold all agents", plural(number, "agent"), HOLD, every))
        if known:
            held = tuple(agent for agent, _ in known.values())
            choices.append(OrderChoice(ALL_KEYS[RELEASE], "release all", plural(len(known), "order"), RELEASE, held))
        return choices

    async def give(self, choice: OrderChoice) -> None:
        """Ask for the reason, and give an order; or say why it can't be given."""
        from console.screens.prompt import Prompt

        screen = self._screen
        if choice.problem:
            screen.tell(f"Can't {choice.what} it: {choice.problem}. {GATE}")
            return
        why: str | None = ""
        if choice.what != RELEASE:
            question = f"{choice.label.capitalize()}: why? The agent reads it"
            why = await screen.ask_and_wait(Prompt(question, detail=self._preview(choice)))
        if why is None:
            screen.tell("Nothing was asked")
            return
        if await self._carry_out(choice.agents, choice.what, why):
            screen.tell(visible_line(f"{DONE[choice.what]}: {self._names(choice.agents)} · z: undo"))

    async def hold_loop(self, loop: Concern, agents: Sequence[Steered]) -> None:
        """Hold agents that keep each other busy, unless an order to them holds already."""
        known = {agent for agent, _ in await self._known()}
        left = [agent for agent in agents if agent not in known]
        if left and await self._carry_out(left, HOLD, f"you {loop.reason}", LIMIT):
            self._screen.report(visible_line(f"{self._names(left)}: {loop.reason} · z: undo"), title=LOOP_HELD)

    async def _carry_out(self, agents: Sequence[Steered], what: str, why: str, by: str = "") -> bool:
        """Give an order that can be undone, by the user unless another is named; return whether that could be done."""
        before = [(agent, order) for agent, order in await self._known() if agent in agents]
        if not await self._do(agents, what, why, by):
            return False
        self._screen.session.undo_history.add(
            UndoableAction(
                f"{what} {self._names(agents)}",
                lambda: self._again(agents, RELEASE, "", before),
                lambda: self._again(agents, what, why, []),
            )
        )
        return True

    def _preview(self, choice: OrderChoice) -> str:
        """Return whom an order reaches, and what their programs do."""
        live = self._screen.session.hooked.live
        names = [agent.name for agent in choice.agents]
        hooks = {name: hook for name, hook in live.items() if name in names or choice.key in ALL_KEYS.values()}
        lines = []
        for name, hook in sorted(hooks.items())[:LISTED]:
            ends = ", and its turn ends" if choice.what == STOP and hook.tool in ENDING_TURNS else ""
            lines.append(f"{visible_line(name)} ({hook.tool}): {why_not(hook) or EFFECTS[choice.what] + ends}")
        if (more := len(hooks) - LISTED) > 0:
            lines.append(f"and {more:,} more")
        return "\n".join(lines)

    @staticmethod
    def _names(agents: Sequence[Steered]) -> str:
        names = [agent.name for agent in agents]
        return "all agents" if any(name.endswith("*") for name in names) else ", ".join(names)

    async def _known(self) -> list[tuple[Steered, Order]]:
        return [*(await asyncio.to_thread(orders_of, self._screen.session.url)).values()]

    def _again(self, agents: Sequence[Steered], what: str, why: str, before: Sequence[tuple[Steered, Order]]) -> None:
        """Take an order back or give it again; `before` are orders to be restored."""
        self._screen.run_app_task(self._restore(agents, what, why, before), group="orders")

    async def _restore(
        self, agents: Sequence[Steered], what: str, why: str, before: Sequence[tuple[Steered, Order]]
    ) -> None:
        restored = [agent for agent, _ in before]
        await self._do([agent for agent in agents if agent not in restored], what, why)
        for agent, order in before:
            await self._do([agent], order.what, order.why)

    async def _do(self, agents: Sequence[Steered], what: str, why: str, by: str = "") -> bool:
        session = self._screen.session

        def work() -> Intervention | None:
            return steer(session.store, agents, what, why, by or session.user, session.clock())

        try:
            record = await asyncio.to_thread(work)
        except (MailError, OSError) as error:
            self._screen.report(error, title=f"{what.capitalize()} was not recorded" if agents else "Not done")
            return False
        if record is not None:
            session.live.fold([record], session.clock())
        self._screen.redraw()
        return True

    def why_not(self) -> str:
        """Return why no order can be given here; empty if one can."""
        session = self._screen.session
        return PAST if session.moment is not None else "observing: nothing is written" if session.observe else ""


def hold_loops(screen: BaseScreen[Any], concerns: Sequence[Concern]) -> None:
    """Hold the agents of each new loop, where the user chose that: the same ones again only for what came after it."""
    session = screen.session
    loops = [concern for concern in concerns if concern.kind is ConcernKind.LOOP]
    if not loops or not session.config.hooks.hold_loops or AgentOrders(screen).why_not():
        return
    now, pause = session.clock(), session.config.attention.loop_minutes * 60
    before = session.personal.recall(LOOPS, {})
    held = {name: at for name, at in before.items() if 0 <= now - at <= pause}
    for loop in loops:
        agents = held_among(loop.parties, session.hooked)
        if agents and (name := ", ".join(loop.parties)) not in held:
            held[name] = now
            chosen = [steered(each, hook) for each, hook in agents.items()]
            screen.run_task(AgentOrders(screen).hold_loop(loop, chosen), group="orders")
    if held != before:
        session.personal.remember(LOOPS, held)
        screen.run_task(asyncio.to_thread(session.personal.save_remembered, LOOPS), group="state")
