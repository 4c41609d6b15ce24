"""Goose, by its documentation and not tried: its hooks' input, and the one answer that reaches its model."""

from __future__ import annotations

from console.hooks.events import END, PROMPT, START, STOP, TOOL, Answer, HookEvent
from console.hooks.fields import as_json, session_in, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "goose"
SHORT = "goose"
MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "Stop": STOP,
    "SessionEnd": END,
}


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event. Only tools' events name the working folder."""
    native = text_in(given, "event", "hook_event_name") or event
    session = session_in(given, "session_id")
    if not session or native not in MOMENTS:
        return None
    moment = MOMENTS[native]
    return HookEvent(
        moment,
        native,
        session,
        text_in(given, "working_dir", "cwd") or env.get("PWD", ""),
        prompt=text_in(given, "message"),
        is_unheard=moment in (START, PROMPT, TOOL),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as the reason not to end the turn: nothing else is heard."""
    return Answer(as_json({"decision": "block", "reason": text})) if text and event.moment is STOP else Answer()
