"""Notices that agents' programs exchange inside a text (JSON with a `type`), put into words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from mailstore.files.salvage import UNREADABLE, loads

IDLE = "idle_notification"
LEFT = frozenset({"shutdown_approved", "teammate_terminated"})
"""Types that announce the end of their sender."""
FOR_USER = frozenset({"permission_request", "plan_approval_request", "sandbox_permission_request", "join_request"})
TYPE = re.compile(r"[A-Za-z][\w-]{0,39}", re.ASCII)


class Notice(msgspec.Struct, frozen=True):
    """A notice as shown to a user: type, subject and body."""

    type: str
    subject: str
    body: str
    is_for_user: bool = False


def notice(text: str) -> Notice | None:
    """Return the notice in a text; None for ordinary text."""
    if not text.startswith("{"):
        return None
    try:
        value = loads(text.encode("utf-8", "replace"))
    except UNREADABLE:
        return None
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or not TYPE.fullmatch(kind):
        return None
    is_for_user = kind in FOR_USER
    if kind not in SAID:
        return Notice(kind, kind.replace("_", " "), text)
    subject, body = SAID[kind](value)
    return Notice(kind, subject, body or subject, is_for_user)


def _of(value: dict[str, Any], *names: str) -> str:
    """Return the first of some fields that isn't empty, as text."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return str(found)
    return ""


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _detail(value: Any) -> str:
    """Return a tool's input as indented JSON."""
    if value in (None, "", {}, []):
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, indent=2, ensure_ascii=False)
    except RecursionError:
        return ""


def _titled(words: str, title: str) -> str:
    return f"{words}: {title}" if title else words


def _task(verb: str) -> Callable[[dict[str, Any]], tuple[str, str]]:
    def say(value: dict[str, Any]) -> tuple[str, str]:
        subject = _titled(f"Task #{_of(value, 'taskId') or '?'} {verb}", _of(value, "subject", "taskSubject"))
        return subject, _joined(subject, _of(value, "description", "result"))

    return say


def _idle(value: dict[str, Any]) -> tuple[str, str]:
    subject = _titled("Idle", _of(value, "idleReason"))
    done = _of(value, "completedTaskId")
    status = _of(value, "completedStatus")
    finished = f"Task #{done} {status or 'completed'}." if done else ""
    return subject, _joined(subject, finished, _of(value, "summary"), _of(value, "failureReason"))


def _plain(words: str, *titles: str) -> Callable[[dict[str, Any]], tuple[str, str]]:
    def say(value: dict[str, Any]) -> tuple[str, str]:
        title = _of(value, *titles)
        return _titled(words, title.strip().splitlines()[0][:80] if title else ""), _joined(words, title)

    return say


def _permission(value: dict[str, Any]) -> tuple[str, str]:
    subject = _titled("Permission to use a tool", _of(value, "toolName", "tool_name"))
    return subject, _joined(subject, _of(value, "description"), _detail(value.get("input")))


def _plan(value: dict[str, Any]) -> tuple[str, str]:
    subject = _titled("Plan to approve", _of(value, "planFilePath", "subject"))
    return subject, _joined(subject, _of(value, "planContent", "plan", "description"))


def _answered(words: str) -> Callable[[dict[str, Any]], tuple[str, str]]:
    def say(value: dict[str, Any]) -> tuple[str, str]:
        is_yes = next((value[name] for name in ("approved", "approve", "allowed") if name in value), None)
        verdict = "answered" if is_yes is None else "approved" if is_yes is True else "rejected"
        subject = f"{words} {verdict}"
        return subject, _joined(subject, _of(value, "feedback", "reason", "error"))

    return say


SAID: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
    "task_assignment": _task("assigned"),
    "task_completed": _task("completed"),
    IDLE: _idle,
    "shutdown_request": _plain("Shutdown requested", "reason"),
    "shutdown_approved": _plain("Shutting down", "reason"),
    "shutdown_rejected": _plain("Shutdown declined", "reason"),
    "shutdown_response": _answered("Shutdown"),
    "teammate_terminated": _plain("Teammate ended", "message", "reason"),
    "plan_approval_request": _plan,
    "plan_approval_response": _answered("Plan"),
    "permission_request": _permission,
    "sandbox_permission_request": _permission,
    "permission_response": _answered("Permission"),
    "join_request": _plain("Request to join the team", "proposedName", "name", "capabilities"),
    "join_approved": _plain("Joining the team approved", "agentName"),
    "join_rejected": _plain("Joining the team rejected", "reason"),
}
"""Subject and body for each known type."""
