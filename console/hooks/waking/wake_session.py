"""Wake an idle session: a notice in Codex's queue, or a touch of the bell file that Claude Code and OpenCode watch.

Only sessions whose hooks were installed with `--wake`. Of a message nothing but what `texts` lets through reaches
another program, as one argument and never through a shell.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from console.hooks.notices.check_command import check_command
from console.hooks.notices.texts import Announcement, in_between
from console.hooks.sessions.hooked_agents import CODEX, WATCHING, LiveHook
from console.hooks.sessions.mailbox_choice import store_option
from console.hooks.unread.look import sender_in
from console.hooks.unread.watched import bell_of, mailbox_file
from mailstore.errors import reason_of
from mailstore.files.whole import open_regular
from mailstore.records.message import Message

COMMAND_SECONDS = 10.0
LONGEST_PROBLEM = 200


class Rung(Struct, frozen=True):
    """What came of a wake for some messages: the way, how many seconds it took, and what went wrong, if anything."""

    agent_id: str
    ids: tuple[str, ...]
    way: str
    seconds: float
    problem: str = ""


def hears_by_itself(hook: LiveHook) -> bool:
    """Say whether a session that may be woken is woken by its mailbox's file, so that new mail needs no ring."""
    return hook.can_wake and hook.tool in WATCHING and bool(mailbox_file(hook.mailbox))


def ring(agent_id: str, hook: LiveHook, messages: Sequence[Message]) -> Rung:
    """Wake a session that `can_be_woken`; blocks for some seconds at most, raises nothing."""
    start = time.monotonic()
    problem = queue(hook, _notice(hook, messages)) if hook.tool == CODEX else touch_bell(hook)
    return Rung(
        agent_id, tuple(message.id for message in messages), hook.way_to_wake, time.monotonic() - start, problem
    )


def _notice(hook: LiveHook, messages: Sequence[Message]) -> str:
    command = check_command(hook.agent_id, store_option(hook.mailbox, hook.cwd, os.environ), os.environ)
    announcements = [Announcement(sender_in(hook.mailbox, message.sender), message.type) for message in messages]
    return in_between(hook.agent_id, announcements, command)


def queue(hook: LiveHook, text: str) -> str:
    """Queue a prompt for a session of Codex; return what went wrong. Blocks for some seconds at most."""
    words = [CODEX, "queue", "--thread", hook.session_id, f"--message={text}"]
    folder = hook.cwd if hook.cwd and Path(hook.cwd).is_dir() else None
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return f"codex queue took longer than {COMMAND_SECONDS:.0f} s"
    except (OSError, ValueError) as error:  # a zero byte can't be part of an argument
        return f"codex can't be run ({reason_of(error) if isinstance(error, OSError) else error})"
    if not done.returncode:
        return ""
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("Error:")), lines[0] if lines else "")
    plain = "".join(char if char.isprintable() else "?" for char in said.removeprefix("Error: "))[:LONGEST_PROBLEM]
    return f"codex queue ended with {done.returncode}{f' ({plain})' if plain else ''}"


def touch_bell(hook: LiveHook) -> str:
    """Change a session's bell file, which is made where it is missing; return what went wrong."""
    bell = bell_of(hook.folder, hook.tool, hook.session_id)
    try:
        fd = open_regular(bell, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
        try:
            os.write(fd, f"{time.time_ns()}\n".encode())
        finally:
            os.close(fd)
    except OSError as error:
        return f"{bell} can't be written ({reason_of(error)})"
    return ""
