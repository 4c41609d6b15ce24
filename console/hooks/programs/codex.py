"""Codex: its hooks' input, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import (
    ASKED,
    END,
    GATE,
    INTERRUPT,
    PROMPT,
    START,
    STOP,
    TOOL,
    Answer,
    HookEvent,
    session_in,
    text_in,
    tool_in,
)
from console.hooks.permissions import ALLOW
from mailstore.files.scan import ascii_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from console.hooks.permissions import PermissionAnswer

NAME = SHORT = "codex"
STATUS_FOLDER = ()
MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": GATE,
    "PostToolUse": TOOL,
    "Stop": STOP,
    "PermissionRequest": ASKED,
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
        asked=tool_in(given, "tool_name", "tool_input"),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or at the end of a turn as the reason to go on."""
    if text and event.moment is STOP:
        return Answer(ascii_json({"decision": "block", "reason": text}))
    if text and event.moment in ANSWERED:
        output = {"hookEventName": event.native, "additionalContext": text}
        return Answer(ascii_json({"hookSpecificOutput": output}))
    return Answer()


def decide(event: HookEvent, answer: PermissionAnswer) -> Answer:
    """Return a decision; what would end the turn makes the hook fail."""
    decision = {"behavior": "allow"} if answer.what == ALLOW else {"behavior": "deny", "message": answer.words}
    return Answer(ascii_json({"hookSpecificOutput": {"hookEventName": event.native, "decision": decision}}))


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return a denial: a stop makes the hook fail, and the tool run."""
    decision = {"hookEventName": event.native, "permissionDecision": "deny", "permissionDecisionReason": reason}
    return Answer(ascii_json({"hookSpecificOutput": decision}))
