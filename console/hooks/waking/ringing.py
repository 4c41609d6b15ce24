"""Wake the idle sessions that a message calls, right after it was sent, and log each wake as a line of JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from console.hooks.sessions.hooked_agents import LiveHook
from console.hooks.sessions.live import live_hooks
from console.hooks.state_folder import state_home
from console.hooks.waking.limits import may_wake, release
from console.hooks.waking.wake_session import Rung, hears_by_itself, ring
from console.render.json_output import json_text
from console.render.timestamps import iso_time
from mailstore.errors import reason_of
from mailstore.files.whole import open_regular
from mailstore.records.message import Message


def wake_log() -> Path:
    """Return the path of the log, which may not exist."""
    return Path(state_home()) / "wake.jsonl"


def log_line(path: Path, record: dict[str, Any]) -> None:
    """Append a record; blocks, raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8", opener=open_regular) as file:
        file.write(json_text(record) + "\n")


MOST_AT_ONCE = 8


def ring_called(store_url: str, message: Message, called: Iterable[str], now: float, *, by_user: bool) -> list[Rung]:
    """Wake the sessions of the agents that a message may wake, as `mailstore.rules.presence.called` names them.

    Leaves out those that are busy, may not be woken, are woken by the mailbox's file itself, or were woken by the same
    agent less than a minute ago. Blocks for some seconds at most; raises nothing.
    """
    names = list(called)
    hooks = live_hooks(store_url, now) if names else {}
    wanted = [
        (name, hook)
        for name in names
        if (hook := hooks.get(name)) is not None and hook.can_be_woken and hook.is_idle and not hears_by_itself(hook)
    ]
    if not wanted:
        return []
    people = {message.sender} if by_user else set()
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        started = [pool.submit(wake_for, name, hook, [message], now, people) for name, hook in wanted]
    return [rung for done in started if (rung := done.result()) is not None]


def wake_for(
    agent_id: str,
    hook: LiveHook,
    messages: Sequence[Message],
    now: float,
    people: Collection[str],
    log: Path | None = None,
) -> Rung | None:
    """Wake a session that `can_be_woken` for those messages that may, and log it; None if none may.

    None may that woke it before, or whose sender woke it less than a minute ago, unless that is one of the `people`.
    Blocks for some seconds at most; raises nothing.
    """
    allowed: list[Message] = []
    try:
        for sender in dict.fromkeys(message.sender for message in messages):
            theirs = [message for message in messages if message.sender == sender]
            if may_wake(hook.folder, *_claim(sender, hook, theirs, people), now):
                allowed += theirs
        if not allowed:
            return None
        rung = ring(agent_id, hook, allowed)
        for sender in {message.sender for message in allowed} if rung.problem else ():
            release(hook.folder, *_claim(sender, hook, allowed, people))
    except OSError as error:
        rung = Rung(agent_id, tuple(one.id for one in messages), hook.way_to_wake, 0.0, reason_of(error))
    problem = log_wake(rung, now, log)
    return replace(rung, problem=rung.problem or problem)


def _claim(
    sender: str, hook: LiveHook, messages: Sequence[Message], people: Collection[str]
) -> tuple[str, str, list[str]]:
    return "" if sender in people else sender, hook.session_id, [message.id for message in messages]


def log_wake(rung: Rung, now: float, log: Path | None = None) -> str:
    """Note a wake in a log, by default the log of wakes; return what went wrong. Blocks."""
    record = {
        "at": iso_time(now),
        "agent": rung.agent_id,
        "ids": list(rung.ids),
        "status": int(bool(rung.problem)),
        "seconds": round(rung.seconds, 3),
        "way": rung.way,
        **({"problem": rung.problem} if rung.problem else {}),
    }
    path = log or wake_log()
    try:
        log_line(path, record)
    except OSError as error:
        return f"{path} can't be written ({reason_of(error)})"
    return ""
