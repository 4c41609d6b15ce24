"""What an agent's own commands printed, until its model has seen it: kept with the session, recorded by its next event.

Nothing is taken out of a mailbox, so a read is written there only once it is final (docs/decisions/0080). Imports next
to nothing, because `check` asks at every start.
"""

from __future__ import annotations

import os

from console.hooks.state_folder import hooks_folder
from console.hooks.user_prompts import prompts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from console.hooks.sessions.session_state import SessionState

PRINTED, SEEN, PROMPTED = 0, 1, 2
"""The tool that printed a message runs; it has ended, so that whatever comes next follows an answer of the model.

Or the message came as a prompt, perhaps while a tool ran, whose end follows no answer to it.
"""


def printed_to(mailbox: str, agent_id: str, now: float) -> dict[str, float]:
    """Return by message what was printed to an agent by its session's own commands and isn't recorded as read yet.

    And what comes to it as its user's prompt. `mailbox` is its URL, `now` in seconds since the epoch. Nothing where no
    hook follows the session, or it has ended.
    """
    state = _followed(hooks_folder(mailbox), agent_id, now)
    if state is None:
        return {}
    coming = prompts_of(hooks_folder(mailbox), state.tool, state.session_id)
    return state.printed | {prompt.message_id: prompt.at for prompt in coming if prompt.message_id}


def note_printed(mailbox: str, agent_id: str, message_ids: Iterable[str], now: float) -> bool:
    """Note that messages were printed to an agent; return whether its hooks will record that they were read.

    Where no hook follows its session, nothing is noted, and the caller has to record it.
    """
    folder = hooks_folder(mailbox)
    state = _followed(folder, agent_id, now)
    if state is None:
        return False
    from console.hooks.sessions.session_state import opened

    try:
        with opened(folder, state.tool, state.session_id) as held:
            if held.state.is_ended or held.state.agent_id != agent_id:
                return False
            held.state.printed |= dict.fromkeys(message_ids, PRINTED)
            held.save()
    except OSError:  # a hook holds it, or it can't be written
        return False
    return True


def _followed(folder: str, agent_id: str, now: float) -> SessionState | None:
    """Return the state of the session that has an agent's id, if it still runs."""
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib costs more than all of this
        return None
    from console.hooks.sessions.claims import claim_path, holder_file
    from console.hooks.sessions.processes import is_live
    from console.hooks.sessions.session_state import listed_state
    from mailstore.files.whole import open_binary

    try:
        with open_binary(holder_file(folder, claim_path(folder, agent_id))) as file:
            state = listed_state(file.read())
    except (OSError, ValueError):
        return None
    return state if state is not None and state.agent_id == agent_id and is_live(state, now) else None
