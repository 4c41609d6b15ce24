"""Copilot CLI: its hooks' input, and the answers that it understands. The command line names the event."""

from __future__ import annotations

from console.hooks.events import (
    ASKED,
    END,
    GATE,
    PROMPT,
    START,
    STOP,
    TOOL,
    WAITING,
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

NAME = SHORT = "copilot"
STATUS_FOLDER = ()
MOMENTS = {
    "sessionStart": START,
    "userPromptSubmitted": PROMPT,
    "preToolUse": GATE,
    "postToolUse": TOOL,
    "agentStop": STOP,
    "permissionRequest": ASKED,
    "notification": WAITING,
    "sessionEnd": END,
}
SOURCES = {"new": "startup"}
"""What other programs call the same."""
PERMISSION = "permission_prompt"
ALLOWING, ALL_ALLOWED = frozenset({"--allow-all-tools", "--allow-all", "--yolo"}), "COPILOT_ALLOW_ALL"
"""The options, and the variable, by which no tool is asked for."""
ANSWERED = (START, PROMPT, TOOL)


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event."""
    session = session_in(given, "sessionId")
    if not session or event not in MOMENTS:
        return None
    moment = MOMENTS[event]
    if moment is WAITING and given.get("notification_type", PERMISSION) != PERMISSION:
        return None
    if moment is ASKED and allows_all(env):
        return None
    source = text_in(given, "source", "reason")
    return HookEvent(
        moment,
        event,
        session,
        text_in(given, "cwd"),
        source=SOURCES.get(source, source),
        prompt=text_in(given, "prompt"),
        asked=tool_in(given, "toolName", "toolInput"),
    )


def allows_all(env: Mapping[str, str]) -> bool:
    """Say whether the user allowed every tool at the start: its hook for permissions runs before each all the same."""
    if env.get(ALL_ALLOWED, "").lower() not in ("", "0", "false"):
        return True
    from console.hooks.sessions.processes import arguments_of, program_process

    return not ALLOWING.isdisjoint(arguments_of(program_process()))


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or at the end of a turn as the reason to go on."""
    if text and event.moment is STOP:
        return Answer(ascii_json({"decision": "block", "reason": text}))
    return Answer(ascii_json({"additionalContext": text})) if text and event.moment in ANSWERED else Answer()


def decide(event: HookEvent, answer: PermissionAnswer) -> Answer:
    """Return a decision; the program knows of none that ends its turn."""
    if answer.what == ALLOW:
        return Answer(ascii_json({"behavior": "allow"}))
    return Answer(ascii_json({"behavior": "deny", "message": answer.words}))


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return a denial: a stop would be ignored, and the tool run."""
    return Answer(ascii_json({"permissionDecision": "deny", "permissionDecisionReason": reason}))
