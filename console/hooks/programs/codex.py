"""Codex: its hooks' input, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import (
    END,
    GATE,
    INTERRUPT,
    PROMPT,
    START,
    STOP,
    TOOL,
    WAITING,
    Answer,
    HookEvent,
    session_in,
    text_in,
)
from mailstore.files.scan import ascii_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = SHORT = "codex"
MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": GATE,
    "PostToolUse": TOOL,
    "Stop": STOP,
    "PermissionRequest": WAITING,
    "Interrupt": INTERRUPT,
    "SessionEnd": END,
}
ANSWERED = (START, PROMPT, TOOL)


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event, and for another program's."""
    session = session_in(given, "session_id")
    native = text_in(given, "hook_event_name") or event
    if not session or native not in MOMENTS or "timestamp" in given:
        return None
    return HookEvent(
        MOMENTS[native],
        native,
        session,
        text_in(given, "cwd"),
        source=text_in(given, "source", "reason"),
        prompt=text_in(given, "prompt"),
        is_subagent=bool(given.get("agent_id")),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or at the end of a turn as the reason to go on."""
    if text and event.moment is STOP:
        return Answer(ascii_json({"decision": "block", "reason": text}))
    if text and event.moment in ANSWERED:
        output = {"hookEventName": event.native, "additionalContext": text}
        return Answer(ascii_json({"hookSpecificOutput": output}))
    return Answer()


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return a denial: a stop makes the hook fail, and the tool run."""
    decision = {"hookEventName": event.native, "permissionDecision": "deny", "permissionDecisionReason": reason}
    return Answer(ascii_json({"hookSpecificOutput": decision}))
