"""Freeze the agents of sessions that still run when their hooks are removed: their end would not be noticed."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from console.hooks.install.programs import Target
from console.hooks.sessions.processes import is_live
from console.hooks.sessions.registration import leave
from console.hooks.sessions.session_state import SessionState, opened, states_in
from console.hooks.state_folder import all_folders
from mailstore.errors import reason_of


def freeze_sessions(programs: Collection[str], target: Target) -> tuple[list[str], list[str]]:
    """Freeze the agents of some programs' sessions in a folder, or of all for the user's hooks.

    Return the agents' ids, and what went wrong with others.
    """
    now = time.time()
    frozen: list[str] = []
    problems: list[str] = []
    for folder in all_folders():
        for state in states_in(folder):
            if state.tool in programs and is_live(state, now) and _is_in(state, target):
                try:
                    with opened(folder, state.tool, state.session_id) as held:
                        problem = leave(held.state, held.state.mailbox, "freeze", now)
                        held.save()
                except OSError as error:
                    problem = reason_of(error)
                if problem:
                    problems.append(f"{state.agent_id} could not be frozen ({problem})")
                else:
                    frozen.append(state.agent_id)
    return frozen, problems


def _is_in(state: SessionState, target: Target) -> bool:
    return target.is_user or Path(state.cwd).is_relative_to(target.folder.resolve())
