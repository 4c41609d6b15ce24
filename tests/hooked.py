"""Agents with hooks, as their state files tell: written as the hooks write them."""

from __future__ import annotations

import os
from typing import Any

from console.hooks.processes import _namespace
from console.hooks.session_state import opened
from console.hooks.state_folder import hooks_folder
from mailstore.registry import open_store

__all__ = ["ended_process", "hooked"]


def hooked(url: str, agent_id: str, *, tool: str = "claude-code", session_id: str = "", **more: Any) -> str:
    """Write the state of one session whose hook ran; return its file. `more` are fields of `SessionState`."""
    session_id = session_id or f"0000-{agent_id}"
    with open_store(url) as store:
        url = store.url
    folder = hooks_folder(url)
    with opened(folder, tool, session_id) as held:
        state = held.state
        state.mailbox, state.agent_id = url, agent_id
        for name, value in more.items():
            setattr(state, name, value)
        held.save()
    return f"{folder}/{tool}-{session_id}"


def ended_process() -> dict[str, str]:
    """Return what the state says of a program that has ended without a word."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return {"process": f"{child} 1 {_namespace()}"}
