"""Find out what to carry: from the table [transports] of the settings, or from AgentAZAll's own config.json."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from mailstore.errors import MailError, StoreError, reason_of
from mailstore.kinds.agentazall.places import config_at, find, mailbox_dir, transport_trees
from mailstore.kinds.agentazall.sync.own_config import agents_in, plan_of
from mailstore.kinds.agentazall.sync.plan import AgentPlan, SyncPlan
from mailstore.kinds.agentazall.sync.settings import TransportSettings
from mailstore.kinds.agentazall.sync.their_config import plan_in
from mailstore.location import path_of
from mailstore.registry import kind_and_location
from mailstore.server_settings import program_settings

KIND = "agentazall"
TABLE = "transports"
MOST_CONFIGS = 100


def plan_for(given: str, usual: Callable[[], str]) -> SyncPlan:
    """Return what to carry: a config.json that is named, else [transports], else each config.json beside the mailboxes.

    `usual` returns the mailbox that is meant where neither is named. Raises MailError.
    """
    try:
        if given and given.endswith(".json"):
            return plan_in(path_of(_path(given)))
        settings = program_settings()
        ours = settings.checked(TABLE, TransportSettings)
        root = _root(given or ours.mailbox or usual())
        if ours != TransportSettings() and _is_meant(ours, root):
            return plan_of(ours, settings.file, root)
        return _theirs(root)
    except OSError as error:
        raise StoreError(
            f"{error.filename} can't be read ({reason_of(error)})", "check the path and its permissions", "E384"
        ) from error


def root_of(given: str, usual: Callable[[], str]) -> Path:
    """Return the folder of mailboxes that is meant, as `plan_for` finds it. Raises MailError."""
    if given and given.endswith(".json"):
        return plan_in(path_of(_path(given))).root
    return _root(given or program_settings().checked(TABLE, TransportSettings).mailbox or usual())


def _path(given: str) -> str:
    kind, location = kind_and_location(given)
    if kind not in ("", KIND):
        raise StoreError(f"a mailbox of the kind {kind} can't be synchronised", "name a mailbox of AgentAZAll", "E536")
    return location


def _root(given: str) -> Path:
    path = path_of(_path(given))
    root = find(path)
    if root is None:
        raise StoreError(
            f"no AgentAZAll mailbox was found at {path}", "name the folder of mailboxes, or a config.json", "E537"
        )
    if trees := transport_trees(root):
        raise StoreError(
            f"{root} holds several trees ({', '.join(trees)})", "name one of them; each has accounts of its own", "E538"
        )
    return root.resolve()


def _is_meant(ours: TransportSettings, root: Path) -> bool:
    """Return whether the table is for this mailbox: it names none, or this one."""
    return not ours.mailbox or find(path_of(_path(ours.mailbox))) in (root, None) or _root(ours.mailbox) == root


def _theirs(root: Path) -> SyncPlan:
    """Return the plans of all config.json beside the mailboxes as one; agents without one get local mail alone."""
    plans: list[SyncPlan] = []
    left_aside: list[str] = []
    for path in islice(sorted(root.parent.parent.glob("config*.json")), MOST_CONFIGS):
        config = config_at(path)
        if config is None:
            left_aside.append(f"{path} was left aside: it is not JSON with agent_name and mailbox_dir")
        elif (folder := mailbox_dir(config, path)) is not None and folder.resolve() == root:
            plans.append(plan_in(path))
    agents = {agent.name: agent for plan in plans for agent in plan.agents}
    named = [agents.get(name) or AgentPlan(name) for name in agents_in(root)]
    if not named:
        raise MailError(f"{root} has no folder of an agent", "register one with its own program first", "E539")
    here = {agent.name for agent in named}
    left_aside += [f"{name} was left aside: it has no folder in {root}" for name in agents if name not in here]
    every = min((plan.every_seconds for plan in plans), default=SyncPlan(root, ()).every_seconds)
    return SyncPlan(root, tuple(named), every, (*(warning for plan in plans for warning in plan.warnings), *left_aside))
