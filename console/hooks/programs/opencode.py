"""OpenCode: what Signalbox's plugin (`signalbox.js`) reports, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import (
    ASKED,
    CHANGED,
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
    tool_in,
)
from console.hooks.permissions import ALLOW, END_TURN
from mailstore.files.scan import ascii_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from console.hooks.permissions import PermissionAnswer

NAME = "opencode"
SHORT = "opencode"
STATUS_FOLDER = ()
PROMPTED = "session.prompted"
"""A prompt of the plugin's own has come back as a message."""
REPLIED = "permission.replied"
"""The agent works again; a text can't be delivered yet."""
MOMENTS = {
    "session.created": START,
    "chat.message": PROMPT,
    PROMPTED: PROMPT,
    "tool.execute.before": GATE,
    "tool.execute.after": TOOL,
    REPLIED: TOOL,
    "session.idle": STOP,
    "session.interrupted": INTERRUPT,
    "file.changed": CHANGED,
    "permission.asked": WAITING,
    "permission.requested": ASKED,
    "session.deleted": END,
}


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event."""
    native = text_in(given, "hook_event_name") or event
    parent = session_in(given, "parent_id")
    session = parent or session_in(given, "session_id")
    if not session or native not in MOMENTS:
        return None
    return HookEvent(
        MOMENTS[native],
        native,
        session,
        text_in(given, "cwd"),
        source=text_in(given, "source"),
        title=text_in(given, "title"),
        prompt=text_in(given, "prompt"),
        is_subagent=bool(parent),
        is_unheard=native == REPLIED,
        is_continued=native == PROMPTED,
        is_attended=True,
        takes_prompts=given.get("takes_prompts") is True,
        asked=tool_in(given, "permission", "metadata"),
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text for the model, and before a turn the agent's id for its shell and the files to watch."""
    if event.moment == ASKED:
        return Answer()
    output: dict[str, object] = {}
    if text and event.moment not in (WAITING, INTERRUPT, END) and not event.is_unheard:
        output["text"] = text
    if event.agent_id and event.moment in (START, PROMPT):
        output["agent"] = event.agent_id
    if watch:
        output["watch"] = watch
    if event.prompts:
        output["prompts"] = event.prompts
    return Answer(ascii_json(output)) if output else Answer()


def decide(event: HookEvent, answer: PermissionAnswer) -> Answer:
    """Return what the plugin replies to the question, and whether it ends the turn."""
    reply = {"reply": "once" if answer.what == ALLOW else "reject", "message": answer.words}
    return Answer(ascii_json({**reply, "end": answer.what == END_TURN}))


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return what the plugin throws, and whether it ends the turn before."""
    return Answer(ascii_json({"refuse": reason, "stop": is_stop}))
