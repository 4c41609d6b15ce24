"""Gemini CLI: its hooks' input, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import END, GATE, PROMPT, START, STOP, TOOL, WAITING, Answer, HookEvent, session_in, text_in
from mailstore.files.scan import ascii_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from console.hooks.permissions import PermissionAnswer

NAME = SHORT = "gemini"
STATUS_FOLDER = ()
MOMENTS = {
    "SessionStart": START,
    "BeforeAgent": PROMPT,
    "BeforeTool": GATE,
    "AfterTool": TOOL,
    "AfterAgent": STOP,
    "Notification": WAITING,
    "SessionEnd": END,
}
ANSWERED = (START, PROMPT, TOOL)
PERMISSION = "ToolPermission"


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event, and for another session's."""
    session = session_in(given, "session_id")
    native = text_in(given, "hook_event_name") or event
    if not session or native not in MOMENTS or env.get("GEMINI_SESSION_ID", session) != session:
        return None
    moment = MOMENTS[native]
    if moment is WAITING and given.get("notification_type", PERMISSION) != PERMISSION:
        return None
    return HookEvent(
        moment,
        native,
        session,
        text_in(given, "cwd"),
        source=text_in(given, "source", "reason"),
        prompt=text_in(given, "prompt"),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or at the end of a turn as the reason to go on."""
    if text and event.moment is STOP:
        return Answer(ascii_json({"decision": "deny", "reason": text}))
    if text and event.moment in ANSWERED:
        output = {"hookEventName": event.native, "additionalContext": text}
        return Answer(ascii_json({"hookSpecificOutput": output}))
    return Answer()


def decide(event: HookEvent, answer: PermissionAnswer) -> Answer:
    """Return nothing: it takes an answer only at its terminal."""
    return Answer()


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return a denial, or what ends the turn."""
    return Answer(
        ascii_json({"continue": False, "stopReason": reason} if is_stop else {"decision": "deny", "reason": reason})
    )
