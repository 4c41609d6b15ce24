"""Change one agent in the roster of a mailbox: cheaply in a roster of lines, else through the store.

Imports next to nothing for a roster of lines, because hooks write to it at every start, and each minute.
"""

from __future__ import annotations

import os

from console.hooks.sessions.mailbox_choice import HAAK
from mailstore.errors import MailError, Unsupported
from mailstore.files.scan import Unusual
from mailstore.installed_kinds import turn_on_site_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mailstore.records.roster import Agent
    from mailstore.store import Store

    Change = Callable[[Any], dict[str, Any] | None]
    """Gets the agent, or None for one that is not registered; returns new values of fields, None for no change."""


def change_agent(mailbox: str, agent_id: str, change: Change, now: float) -> None:
    """Change fields of an agent in a mailbox's roster, or register it; `now` in seconds since the epoch.

    Raises Unsupported for a mailbox whose roster is not ours to write, MailError for other refusals, and OSError.
    """
    kind, _, path = mailbox.partition(":")
    if kind == HAAK and os.path.isfile(path):  # noqa: PTH113 - pathlib costs more than all of this
        from mailstore.haak.write.quick_roster import quick_roster_update

        if os.path.exists(f"{os.path.dirname(path)}/agent-roster.json"):  # noqa: PTH110, PTH120
            turn_on_site_packages()
        try:
            quick_roster_update(path, agent_id, change, now)
        except Unusual:
            _change_through_store(mailbox, agent_id, change, now)
    else:
        _change_through_store(mailbox, agent_id, change, now)


def _change_through_store(mailbox: str, agent_id: str, change: Change, now: float) -> None:
    turn_on_site_packages()
    from msgspec.structs import replace

    from console.settings.server_tables import use_config_file
    from mailstore.records.roster import Agent, Status
    from mailstore.registry import open_store
    from mailstore.store import Capability

    use_config_file()
    with open_store(mailbox) as store:
        capabilities = store.capabilities_for(agent_id)
        if Capability.UPDATE_ROSTER not in capabilities:
            raise Unsupported(
                "the mailbox has no roster to register in", capabilities.why_not(Capability.UPDATE_ROSTER), "E232"
            )
        agent = _agent_in(store, agent_id)
        changes = change(agent)
        if changes is not None:
            if "status" in changes:
                changes["status"] = Status(changes["status"])
            store.update_agent(replace(agent or Agent(agent_id), updated=now, **changes))


def _agent_in(store: Store, agent_id: str) -> Agent | None:
    """Return an agent of a store's roster, which a scan yields before any message."""
    from mailstore.records.message import Message
    from mailstore.records.roster import Agent

    agent = None
    for batch in store.scan():
        for event in batch:
            if isinstance(event, Agent) and event.session_id == agent_id:
                agent = event
        if any(isinstance(event, Message) for event in batch):
            break
    return agent


def label_for(mailbox: str, cwd: str) -> str:
    """Return the label of that one of several mailboxes to which an agent belongs; empty for a single mailbox.

    It is the one whose folder is nearest above the agent's own, else the first that has a roster to register in.
    """
    if not mailbox.startswith("several:"):
        return ""
    turn_on_site_packages()
    from mailstore.location import path_in
    from mailstore.records.scope import parts_of
    from mailstore.registry import open_store
    from mailstore.store import Capability

    able = []
    for label, url in parts_of(mailbox).items():
        try:
            with open_store(url) as store:
                place = path_in(store.url)
                if Capability.UPDATE_ROSTER in store.capabilities:
                    able.append((_nearness(os.path.dirname(str(place or "")), cwd), label))  # noqa: PTH120
        except MailError:  # it can't be opened
            continue
    return max(able, key=lambda each: each[0])[1] if able else ""


def _nearness(folder: str, cwd: str) -> int:
    """Return how much of the path of a mailbox's project a working folder shares; 0 if it is not within it."""
    project = folder.removesuffix("/data")
    own = os.path.realpath(cwd)
    return len(project) if project and f"{own}/".startswith(f"{project.rstrip('/')}/") else 0
