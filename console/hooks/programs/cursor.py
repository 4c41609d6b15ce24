"""Cursor, by its documentation and not tried: its hooks' input, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import END, INTERRUPT, PROMPT, START, STOP, TOOL, Answer, HookEvent
from console.hooks.fields import as_json, session_in, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "cursor"
SHORT = "cursor"
MOMENTS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "postToolUse": TOOL,
    "postToolUseFailure": TOOL,
    "stop": STOP,
    "sessionEnd": END,
}
HEARD = ("sessionStart", "postToolUse")
"""The events whose `additional_context` reaches the model."""
OURS = "Signalbox: "
"""How a follow-up message of ours begins when it comes back as a prompt."""


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event."""
    native = text_in(given, "hook_event_name") or event
    parent = session_in(given, "parent_conversation_id")
    session = parent or session_in(given, "conversation_id", "session_id")
    if not session or native not in MOMENTS:
        return None
    moment = MOMENTS[native]
    if moment is STOP and text_in(given, "status") not in ("", "completed"):
        moment = INTERRUPT
    prompt = text_in(given, "prompt")
    return HookEvent(
        moment,
        native,
        session,
        text_in(given, "cwd") or _root(given),
        source=text_in(given, "source", "reason"),
        prompt=prompt,
        is_subagent=bool(parent or given.get("subagent_id")),
        is_unheard=moment in (PROMPT, TOOL) and native not in HEARD,
        is_continued=moment is PROMPT and prompt.startswith(OURS),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or at the end of a turn as the next message."""
    if text and event.moment is STOP:
        return Answer(as_json({"followup_message": text}))
    if text and event.native in HEARD:
        return Answer(as_json({"additional_context": text}))
    return Answer()


def _root(given: dict[str, Any]) -> str:
    roots = given.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return first if isinstance(first, str) else ""
