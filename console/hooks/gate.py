"""Before a tool runs: wait while the user holds the agent, refuse the call once it is stopped.

Whatever goes wrong here lets the tool run, and says nothing: a broken gate blocks nobody.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from console.hooks import clock
from console.hooks.calls import RELEASED, Calls, bytes_of, call_lines, calls_file
from console.hooks.calls import note as note_call
from console.hooks.log import log_error
from console.hooks.orders import CANCEL, HOLD, LIMIT, STOP, Order, give, order_for, place_of, take_cancellations
from console.hooks.sessions.session_state import HELD, OBEYED, WORKING, opened, read_state
from console.hooks.state_folder import all_folders
from mailstore.files.whole import open_binary
from mailstore.installed_kinds import turn_on_site_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.events import Answer, HookEvent
    from console.hooks.programs import Program
    from console.hooks.sessions.session_state import SessionState

LOOK_SECONDS = 0.2
LIMIT_SECONDS = 540.0
"""How long a call is held before it is refused: programs let a tool run whose hook takes longer than 600 s."""


def before_tool(tool: Program, event: HookEvent, limits: dict[str, float]) -> Answer | None:
    """Return how a tool call is refused, once its agent is stopped or was held for long; None to let it run."""
    session = known_session(tool.NAME, event.session_id)
    if session is None:
        return None
    folder, state = session
    place, parent = place_of(folder), os.getppid()
    order = order_for(place, state.agent_id) or _by_limit(tool.NAME, folder, state, limits)
    if order is None:
        return _cancelled(tool, event, place, state.agent_id)
    clock.stop()
    note(folder, tool.NAME, event.session_id, HELD, order)
    until = time.monotonic() + LIMIT_SECONDS
    while order is not None and order.what == HOLD and time.monotonic() < until:
        if os.getppid() != parent:  # the program has ended
            return None
        time.sleep(LOOK_SECONDS)
        order = order_for(place, state.agent_id)
    if order is None:
        note(folder, tool.NAME, event.session_id, WORKING, None)
        if limits:
            _count_anew(tool.NAME, event.session_id)
        return _cancelled(tool, event, place, state.agent_id)
    note(folder, tool.NAME, event.session_id, HELD, order)  # perhaps another one than it waited for
    return tool.refuse(event, reason(order), is_stop=order.what == STOP)


def _by_limit(tool: str, folder: str, state: SessionState, limits: dict[str, float]) -> Order | None:
    """Hold a session that has reached a limit of its hook's command, unless the user has released it since."""
    calls = Calls(call_lines(calls_file(tool, state.session_id), bytes_of(limits)))
    why = calls.broken(limits, time.time()) if limits else ""
    if not why:
        return None
    if state.extra.get(OBEYED):
        note(folder, tool, state.session_id, WORKING, None)
        _count_anew(tool, state.session_id)
        return None
    clock.stop()
    order = Order(state.agent_id, HOLD, time.time(), LIMIT, why)
    give(place_of(folder), order)
    try:
        turn_on_site_packages()
        from console.hooks.steering import record_of
        from mailstore.registry import open_store

        with open_store(state.mailbox) as store:
            record_of(store, [state.agent_id], order)
    except Exception as error:  # it is held all the same
        log_error(tool, LIMIT, error)
    return order


def _count_anew(tool: str, session_id: str) -> None:
    with suppress(OSError):
        note_call(calls_file(tool, session_id), f"{int(time.time())} {RELEASED}")


def _cancelled(tool: Program, event: HookEvent, place: str, agent_id: str) -> Answer | None:
    """Return the one refusal that tells an agent of what was cancelled; None if nothing was."""
    taken = take_cancellations(place, agent_id)
    return tool.refuse(event, "\n".join(map(reason, taken)), is_stop=False) if taken else None


def reason(order: Order) -> str:
    """Return what the model reads of an order."""
    at = time.strftime("%H:%M", time.localtime(order.since))
    why = f": {order.why}" if order.why else ""
    if order.by == LIMIT:
        return f"Held since {at} by a limit of your user{why}. Wait: end your turn, and do not work around this."
    if order.what == CANCEL:
        return f"Cancelled by your user at {at}{why}. Stop working on it, and go on with all that is not cancelled."
    if order.what == STOP:
        return f"Stopped by your user at {at}{why}. End your turn, and do not work around this."
    return f"Held by your user since {at}{why}. Wait: end your turn, and do not work around this."


def known_session(tool: str, session_id: str) -> tuple[str, SessionState] | None:
    """Return what is remembered of a session, and the folder of the mailbox that it had last."""
    sessions: list[tuple[str, SessionState]] = []
    for folder in all_folders():
        try:
            with open_binary(f"{folder}/{tool}-{session_id}") as file:
                state = read_state(file.read(), tool, session_id)
        except OSError:
            continue
        if state.agent_id and not state.is_ended:
            sessions.append((folder, state))
    return max(sessions, key=lambda each: each[1].last_run, default=None)


def note(folder: str, tool: str, session_id: str, doing: str, order: Order | None) -> None:
    """Note which order the session obeys, or that it goes on, for whoever looks; a full folder changes nothing else."""
    try:
        with opened(folder, tool, session_id) as held:
            held.state.last_run = time.time()
            held.state.do(doing, held.state.last_run)
            held.state.extra[OBEYED] = 0.0 if order is None else order.since
            held.save()
    except (OSError, TimeoutError) as error:
        log_error(tool, doing, error)
