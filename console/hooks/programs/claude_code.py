"""Claude Code: its hooks' input, and the answers that it understands."""

from __future__ import annotations

from console.hooks.events import (
    ASKED,
    CHANGED,
    CWD,
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
from console.hooks.permissions import ALLOW, END_TURN
from mailstore.files.scan import ascii_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from console.hooks.permissions import PermissionAnswer

NAME = "claude-code"
SHORT = "claude"
STATUS_FOLDER = ("CLAUDE_CONFIG_DIR", ".claude", "sessions")
MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PreToolUse": GATE,
    "PostToolBatch": TOOL,
    "PostToolUse": TOOL,
    "Stop": STOP,
    "FileChanged": CHANGED,
    "CwdChanged": CWD,
    "Notification": WAITING,
    "PermissionRequest": ASKED,
    "SessionEnd": END,
}
FOREIGN = frozenset({"timestamp", "cursor_version", "conversation_id"})
"""What other programs say that run the Claude Code hooks of a project."""
OLD_STOP = "StopBlock"
"""The event of the command line for releases that take no additional context at Stop."""
WOKEN = "<task-notification>"
"""How the prompt begins that a background hook causes when it wakes the session."""


def read(given: dict[str, Any], event: str, env: Mapping[str, str]) -> HookEvent | None:
    """Return what has happened; None for an unknown event, and where another program runs Claude Code's hooks."""
    session = session_in(given, "session_id")
    native = text_in(given, "hook_event_name") or event
    if not session or native not in MOMENTS or not FOREIGN.isdisjoint(given):
        return None
    if env.get("CLAUDE_CODE_SESSION_ID", session) != session:
        return None
    moment = MOMENTS[native]
    if native == "Stop" and event == OLD_STOP:
        native = OLD_STOP
    if native == "Notification" and given.get("notification_type", "permission_prompt") != "permission_prompt":
        return None
    prompt = text_in(given, "prompt")
    return HookEvent(
        moment,
        native,
        session,
        text_in(given, "new_cwd", "cwd") if moment is CWD else text_in(given, "cwd"),
        source=text_in(given, "source", "reason"),
        agent_type=text_in(given, "agent_type"),
        title=text_in(given, "session_title"),
        prompt=prompt,
        is_subagent=bool(given.get("agent_id")),
        is_unheard=moment is CHANGED and env.get("CLAUDE_CODE_ENTRYPOINT", "cli") != "cli",
        is_continued=moment is PROMPT and prompt.startswith(WOKEN),
        is_rung="/bell-" in text_in(given, "file_path"),
        is_attended=env.get("CLAUDE_CODE_ENTRYPOINT", "cli") == "cli",
        asked=tool_in(given, "tool_name", "tool_input") if moment is ASKED else None,
    )


def answer(event: HookEvent, text: str, watch: tuple[str, ...]) -> Answer:
    """Return a text as additional context, or for a changed file as what wakes the session."""
    if event.moment is CHANGED:
        return Answer(err=text, status=2) if text else Answer()
    if event.moment in (WAITING, ASKED, END):
        return Answer()
    if event.native == OLD_STOP:
        return Answer(ascii_json({"decision": "block", "reason": text})) if text else Answer()
    output: dict[str, object] = {}
    if text and event.moment is not CWD:
        output["additionalContext"] = text
    if watch and event.moment in (START, CWD):
        output["watchPaths"] = watch
    return Answer(ascii_json({"hookSpecificOutput": {"hookEventName": event.native, **output}})) if output else Answer()


def decide(event: HookEvent, answer: PermissionAnswer) -> Answer:
    """Return a decision; to a question of the model's, what the user has chosen stands in its input."""
    decision: dict[str, object] = {"behavior": "allow" if answer.what == ALLOW else "deny"}
    if answer.what != ALLOW:
        decision |= {"message": answer.words} | ({"interrupt": True} if answer.what == END_TURN else {})
    elif answer.choices and event.asked:
        decision["updatedInput"] = {**event.asked[1], "answers": answer.choices}
    return Answer(ascii_json({"hookSpecificOutput": {"hookEventName": event.native, "decision": decision}}))


def refuse(event: HookEvent, reason: str, *, is_stop: bool) -> Answer:
    """Return a denial; a stop alone would not keep the tool from running."""
    decision = {"hookEventName": event.native, "permissionDecision": "deny", "permissionDecisionReason": reason}
    stop = {"continue": False, "stopReason": reason} if is_stop else {}
    return Answer(ascii_json({**stop, "hookSpecificOutput": decision}))
