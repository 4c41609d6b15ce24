"""Hold, stop and release agents: the order for their hooks, and the record of it in the mailbox's journal."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from console.hooks.orders import CANCEL, EVERYBODY, HOLD, STOP, Order, give, orders_in, place_of, take_back
from console.hooks.provenance import USER
from console.hooks.sessions.hooked_agents import HookedAgents, LiveHook
from console.hooks.state_folder import held_root, hooks_folder
from mailstore.files.append import append_line
from mailstore.files.whole import open_binary
from mailstore.records.address import Kind, resolve
from mailstore.records.agent_table import AgentTable
from mailstore.records.message import Intervention
from mailstore.records.roster import Status
from mailstore.records.scope import parts_of
from mailstore.store import Capability, Store

JOURNAL = "journal"
"""The file of the records of a mailbox that has no journal."""
MOST_BYTES = 1 << 20
RELEASE = "release"
EVERYWHERE = "everywhere"
EFFECTS = {
    HOLD: "its next tool call waits until it is released, and is refused after nine minutes",
    STOP: "its next tool call is refused, and each one after it",
    RELEASE: "its tools run again",
}
"""What becomes of an agent."""
NOTES = {HOLD: "its next tool call waits", STOP: "its tool calls are refused"}
ENDING_TURNS = frozenset({"claude-code", "gemini", "opencode"})
"""Programs whose turn ends with a stop; the others have only each call refused."""
NO_GATE = "its hooks were installed without --gate"
NO_HOOKS = "no hook runs for it"


class Steered(Struct, frozen=True):
    """An agent to be held, stopped or released: its name in the mailbox, where its orders are, and its id there."""

    name: str
    place: str
    agent_id: str


def why_not(hook: LiveHook | None) -> str:
    """Return why an agent can't be held; empty if it can."""
    return NO_HOOKS if hook is None else "" if hook.has_gate else NO_GATE


def steered(name: str, hook: LiveHook) -> Steered:
    """Return an agent with a hook as one that can be held."""
    return Steered(name, place_of(hook.folder), hook.agent_id)


def everybody(store_url: str) -> list[Steered]:
    """Return all agents of a mailbox as one, or of each of several, also those that are yet to come."""
    parts = parts_of(store_url) or {"": store_url}
    return [Steered(f"{label}/*" if label else EVERYBODY, _place(url), EVERYBODY) for label, url in parts.items()]


def everywhere() -> Steered:
    """Return all agents of all mailboxes as one."""
    return Steered(EVERYWHERE, held_root(), EVERYBODY)


def orders_of(store_url: str) -> dict[str, tuple[Steered, Order]]:
    """Return by name the orders that hold in a mailbox, or in several, and one to all agents of all mailboxes."""
    every = orders_in(held_root()).get(EVERYBODY)
    orders = {} if every is None else {EVERYWHERE: (everywhere(), every)}
    for label, url in (parts_of(store_url) or {"": store_url}).items():
        place = _place(url)
        for agent_id, order in orders_in(place).items():
            name = f"{label}/{agent_id}" if label else agent_id
            orders[name] = Steered(name, place, agent_id), order
    return orders


def steer(store: Store, agents: Iterable[Steered], what: str, why: str, by: str, now: float) -> Intervention | None:
    """Give agents an order, or take theirs back, and record that; return the record, None if nothing was to be done.

    Blocks. Raises OSError and StoreError.
    """
    done = []
    for agent in agents:
        if what != RELEASE:
            give(agent.place, Order(agent.agent_id, what, now, by, why))
        elif not take_back(agent.place, agent.agent_id):
            continue
        done.append(agent.name)
    return record_of(store, done, Order("", what, now, by, why)) if done else None


def record_of(store: Store, names: list[str], order: Order) -> Intervention:
    """Record who was given an order. Blocks. Raises OSError and StoreError."""
    details = {"agents": names}
    record = Intervention(str(uuid.uuid4()), order.by, order.what, order.since, note=order.why, details=details)
    put_record(store, record)
    return record


def put_record(store: Store, record: Intervention) -> None:
    """Write a record into the mailbox's journal, or beside a mailbox that has none, into the hooks' state.

    Blocks. Raises OSError and StoreError.
    """
    able = store.capabilities_for(record.message_id) if record.message_id else store.capabilities
    if Capability.RECORD in able:
        store.record(record)
        return
    path = Path(_beside(store.url))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    append_line(path, msgspec.json.encode(record))


def records_beside(store_url: str) -> list[Intervention]:
    """Return the newest records beside a mailbox that has no journal; what can't be read is left out. Blocks."""
    interventions = []
    try:
        with open_binary(_beside(store_url)) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return []
    for line in lines:
        with suppress(msgspec.MsgspecError):
            interventions.append(msgspec.json.decode(line, type=Intervention))
    return interventions


def _beside(store_url: str) -> str:
    return f"{hooks_folder(store_url)}/{USER}/{JOURNAL}"


def group_of(text: str, roster: AgentTable[Any]) -> list[str]:
    """Return the ids of the living agents of a role or a tag, written as an address; none for anything else."""
    address = resolve(text, roster)
    if address.kind is Kind.ROLE:
        holders = roster.holders(address.role)
    elif address.kind is Kind.TAG:
        holders = [agent for agent in roster if address.name in agent.tags]
    else:
        return []
    return [agent.session_id for agent in holders if agent.status is Status.LIVING]


def held_among(names: Iterable[str], hooked: HookedAgents) -> dict[str, LiveHook]:
    """Return the agents that can be held, with their hooks."""
    hooks = {name: hooked.live.get(name) for name in names}
    return {name: hook for name, hook in hooks.items() if hook is not None and hook.has_gate}


def cancel(names: Iterable[str], hooked: HookedAgents, order: Order, message_id: str) -> None:
    """Have the next tool call of each agent that can be held refused with an order's words, once for each message.

    Raises OSError.
    """
    for hook in held_among(names, hooked).values():
        give(place_of(hook.folder), Order(hook.agent_id, CANCEL, order.since, order.by, order.why), message_id)


def _place(url: str) -> str:
    return place_of(hooks_folder(url))
