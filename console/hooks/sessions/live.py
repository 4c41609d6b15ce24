"""Read from the hooks' own state which agents have a hook that runs."""

from __future__ import annotations

import os

from console.hooks.calls import Calls, call_lines, calls_file
from console.hooks.orders import order_for, place_of
from console.hooks.permissions import PermissionRequest, folder_of, requests_in
from console.hooks.quick_look import GATE_OPTION
from console.hooks.sessions.hooked_agents import HookedAgents, LiveHook
from console.hooks.sessions.processes import is_gone, is_live, process_is_gone, process_of
from console.hooks.sessions.session_state import OBEYED, SessionState, listed_state
from console.hooks.state_folder import all_folders, held_root, hooks_folder
from console.hooks.user_prompts import TAKES_PROMPTS
from mailstore.files.whole import read_whole
from mailstore.records.scope import Scope, label_of, parts_of

LOOKED_AT = 1 << 13
"""Bytes of the last tool calls of each agent that are read, however many there are."""
Stamp = tuple[int, int, int]


class KnownStates:
    """Reads the states in folders. They are shared, so don't change them; any thread may ask."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, tuple[Stamp, SessionState | None]]] = {}

    def states_in(self, folder: str) -> list[SessionState]:
        """Return the states in a folder; none where it can't be read."""
        old = self._folders.get(folder, {})
        new: dict[str, tuple[Stamp, SessionState | None]] = {}
        try:
            with os.scandir(folder) as entries:
                files = [entry for entry in entries if not entry.name.endswith(".new") and entry.is_file()]
        except OSError:
            files = []
        for entry in files:
            try:
                facts = entry.stat()
                stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
                known = old.get(entry.name)
                is_same = known is not None and known[0] == stamp
                new[entry.name] = known if known and is_same else (stamp, listed_state(read_whole(entry.path)))
            except OSError:  # removed or replaced meanwhile
                continue
        self._folders[folder] = new
        return [state for _, state in new.values() if state is not None]


_known = KnownStates()


def live_hooks(store_url: str, now: float) -> dict[str, LiveHook]:
    """Return by agent id which agents of a mailbox hear of their mail by a hook. Blocks; any thread may call it.

    `now` is seconds since the epoch. Of several sessions under one id, the one that ran last counts.
    """
    return hooked_agents(store_url, now).live


def hooked_agents(store_url: str, now: float) -> HookedAgents:
    """Return the same, and which agents' programs have ended without a word. Blocks; any thread may call it."""
    names = _Names(store_url)
    is_anyone_held = os.path.isdir(held_root())  # noqa: PTH112
    hooks: dict[str, LiveHook] = {}
    gone: dict[str, float] = {}
    for folder in all_folders():
        asked = open_requests(folder, now)
        for state in _known.states_in(folder):
            if not is_live(state, now):
                if not state.is_ended and process_is_gone(state) and (name := names.of(folder, state)):
                    gone[name] = max(gone.get(name, 0.0), state.last_run)
                continue
            name = names.of(folder, state)
            known = hooks.get(name)
            order = order_for(place_of(folder), state.agent_id) if is_anyone_held else None
            has_gate = GATE_OPTION in state.options.split()
            if name and (known is None or known.last_run < state.last_run):
                hooks[name] = LiveHook(
                    state.tool,
                    state.session_id,
                    state.doing,
                    state.since,
                    state.last_run,
                    state.can_wake,
                    folder,
                    state.mailbox,
                    state.agent_id,
                    state.cwd,
                    has_gate,
                    order,
                    order is not None and state.extra.get(OBEYED) == order.since,
                    tuple(
                        request
                        for request in asked
                        if (request.program, request.session_id) == (state.tool, state.session_id)
                    ),
                    Calls(call_lines(calls_file(state.tool, state.session_id), LOOKED_AT)) if has_gate else None,
                    process_of(state),
                    state.extra.get(TAKES_PROMPTS) is True,
                )
    return HookedAgents(hooks, {name: at for name, at in gone.items() if name not in hooks})


def open_requests(folder: str, now: float) -> list[PermissionRequest]:
    """Return the permissions of a mailbox's sessions for which a hook waits, the oldest first."""
    requests = requests_in(folder_of(folder))
    return [
        request for request in requests if not request.outcome and now < request.until and not is_gone(request.process)
    ]


class _Names:
    """What agents of hooks are called in a mailbox, or in several side by side."""

    def __init__(self, store_url: str) -> None:
        self._labels = {hooks_folder(url): label for label, url in parts_of(store_url).items()}
        self._folder = hooks_folder(store_url)

    def of(self, folder: str, state: SessionState) -> str:
        """Return the name of a session's agent; empty if it is not in this mailbox."""
        if folder == self._folder:
            return state.agent_id
        if folder in self._labels:
            return Scope(self._labels[folder]).id(state.agent_id)
        # the hook has several mailboxes side by side, of which this is one
        own = label_of(state.agent_id)
        url = parts_of(state.mailbox).get(own) if own else None
        if url is None:
            return ""
        place, bare = hooks_folder(url), Scope(own).bare(state.agent_id)
        if place == self._folder:
            return bare
        return Scope(self._labels[place]).id(bare) if place in self._labels else ""
