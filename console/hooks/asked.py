"""While a program waits for a permission: wait for the user's answer from the console, beside the program's question.

Whatever goes wrong here says nothing, and the program asks as it would without this.
"""

from __future__ import annotations

import os
import time

from console.hooks import clock
from console.hooks.gate import LOOK_SECONDS, known_session, note
from console.hooks.permissions import (
    ELSEWHERE,
    END_TURN,
    LATE,
    LONGEST_INPUT,
    PermissionRequest,
    answer_to,
    folder_of,
    put,
    settle,
)
from console.hooks.sessions.processes import process_name, program_process
from console.hooks.sessions.session_state import IDLE, WAITING, WORKING, read_state
from console.hooks.user_settings import configured_answer_seconds
from mailstore.files.scan import ascii_json
from mailstore.files.whole import open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from console.hooks.events import Answer, HookEvent
    from console.hooks.permissions import PermissionAnswer
    from console.hooks.programs import Program

LIMIT_SECONDS = 540.0
"""How long an answer is waited for where the program asks at its terminal, too; it gives hooks 600 s."""
LONGEST_STATUS = 1 << 16


def while_asked(tool: Program, event: HookEvent) -> Answer | None:
    """Return the user's answer as the program takes it; None where it is answered elsewhere, or by nobody in time."""
    session = known_session(tool.NAME, event.session_id)
    if session is None or event.asked is None:
        return None
    clock.stop()
    mailbox_folder, state = session
    folder = folder_of(mailbox_folder)
    limit = LIMIT_SECONDS if event.is_attended else configured_answer_seconds(os.environ, LIMIT_SECONDS)
    name, given = event.asked
    text, now = ascii_json(given), time.time()
    request = PermissionRequest(
        {
            "id": os.urandom(8).hex(),
            "program": tool.NAME,
            "session_id": event.session_id,
            "agent_id": state.agent_id,
            "tool": name,
            "given": text[:LONGEST_INPUT],
            "size": len(text),
            "questions": given.get("questions"),
            "cwd": event.cwd,
            "since": now,
            "until": now + limit,
            "process": process_name(os.getpid()),
        }
    )
    put(folder, request)
    answer, outcome = _awaited(tool, event, f"{mailbox_folder}/{tool.NAME}-{event.session_id}", folder, request)
    settle(folder, request, outcome)
    if outcome != LATE:
        note(mailbox_folder, tool.NAME, event.session_id, IDLE if outcome == END_TURN else WORKING, None)
    return tool.decide(event, answer) if answer is not None else None


def _awaited(
    tool: Program, event: HookEvent, path: str, folder: str, request: PermissionRequest
) -> tuple[PermissionAnswer | None, str]:
    """Return the answer, and what became of the request."""
    parent, was_open = os.getppid(), False
    status = _status_file(tool)
    while time.time() < request.until:
        if (answer := answer_to(folder, request.id)) is not None:
            return answer, answer.what
        is_open = _is_open(status) if status else None
        was_open = was_open or is_open is True
        is_closed = is_open is False if was_open else not event.is_subagent and _goes_on(path, tool.NAME, event)
        if is_closed or os.getppid() != parent:
            return None, ELSEWHERE
        time.sleep(LOOK_SECONDS)
    return None, LATE


def _status_file(tool: Program) -> str:
    """Return the file in which the program says whether it waits for its user; empty if there is none."""
    process = program_process()
    if not tool.STATUS_FOLDER or not process:
        return ""
    variable, usual, name = tool.STATUS_FOLDER
    home = os.environ.get(variable) or f"{os.path.expanduser('~')}/{usual}"  # noqa: PTH111
    return f"{home}/{name}/{process.partition(' ')[0]}.json"


def _is_open(path: str) -> bool | None:
    """Return whether the program shows its question still; None if that is unknown."""
    try:
        with open_binary(path) as file:
            data = file.read(LONGEST_STATUS).replace(b" ", b"")
    except OSError:
        return None
    return b'"status":"waiting"' in data if b'"status":' in data else None


def _goes_on(path: str, tool: str, event: HookEvent) -> bool:
    """Return whether a later event has shown that the session waits no longer."""
    try:
        with open_binary(path) as file:
            return read_state(file.read(), tool, event.session_id).doing != WAITING
    except OSError:
        return False
