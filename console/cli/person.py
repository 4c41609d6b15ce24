"""Tell whether a command is run by the user or by an agent in the user's account."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from console.errors import Refused

AGENTS = ("SIGNALBOX_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI")
"""Environment variables that agent programs, and `signalbox wake`, set for the commands they run."""


def require_person(mailbox_url: str) -> None:
    """Raise Refused unless the mailbox's owner runs the command at a terminal, and no agent does.

    For commands that write as the user where a policy restricts who may write to the user.
    """
    why = _why_not(mailbox_url)
    if why:
        raise Refused(f"refused by policy ({why})", "write as the user from the console or a terminal", "E177")


def agent_mark() -> str:
    """Return the environment variable that shows that an agent runs this command; empty if there is none."""
    return next((name for name in AGENTS if os.environ.get(name)), "")


def _why_not(mailbox_url: str) -> str:
    if mark := agent_mark():
        return f"{mark} shows that an agent runs this command"
    if not any(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return "this command was not run from a terminal"
    path = Path(mailbox_url.partition(":")[2])
    try:
        owner = path.stat().st_uid
    except (OSError, ValueError):
        return ""  # several mailboxes, or one that is not a file
    return "" if owner == os.geteuid() else "the mailbox belongs to another user"
