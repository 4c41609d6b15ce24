"""Follow the hooks' own state: which agents hear of their mail by a hook, and what they are doing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from time import monotonic

from console.hooks.permissions import ASKED
from console.hooks.sessions.hooked_agents import HookedAgents
from console.hooks.sessions.live import hooked_agents
from console.hooks.state_folder import HELD, hooks_folder, root
from mailstore.files.watch import wakeups
from mailstore.records.scope import parts_of

REST_SECONDS = 0.3
"""The shortest time between two readings: busy agents' hooks write often."""
LOOK_SECONDS = 5.0
"""How often to check whether the processes of hooked agents still run, of which no file tells."""
ABSENT_SECONDS = 5.0
"""How often to look for the folder where no hook ever ran."""


async def hooked_changes(store_url: str, now: Callable[[], float]) -> AsyncGenerator[HookedAgents]:
    """Yield which agents of a mailbox have hooks, at first and whenever that or what they do changes.

    Reads in a thread; costs next to nothing while no agent has a hook.
    """
    top, known = Path(root()), HookedAgents()
    while not await asyncio.to_thread(os.path.isdir, top):  # not there, or not to be looked into
        await asyncio.sleep(ABSENT_SECONDS)
    folders = await asyncio.to_thread(_folders, store_url)

    def below() -> list[str]:
        names = [Path(folder).name for folder in {*folders, *(hook.folder for hook in known.live.values())}]
        return [*names, *(f"{name}/{ASKED}" for name in names), *(f"{HELD}/{name}" for name in names)]

    async with aclosing(wakeups(top, below)) as waking:
        looked = float("-inf")
        async for has_changed in waking:
            if not has_changed and not (known.live and monotonic() > looked + LOOK_SECONDS):
                continue
            if (rest := looked + REST_SECONDS - monotonic()) > 0:
                await asyncio.sleep(rest)
            looked = monotonic()
            agents = await asyncio.to_thread(hooked_agents, store_url, now())
            is_news, known = agents != known, agents
            if is_news:
                yield agents


def _folders(store_url: str) -> set[str]:
    """Return the folders of the hooks' state for a mailbox, and for each of several side by side."""
    return {hooks_folder(url) for url in (store_url, *parts_of(store_url).values())}
