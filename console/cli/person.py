"""Whether it is the person who gives a command, or an agent in the person's account."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from console.cli.problems import Refused

__all__ = ["require_person"]

AGENTS = ("SIGNALBOX_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI")
"""Variables that the programs of agents set for what they run, `signalbox wake` among them."""


def require_person(mailbox_url: str) -> None:
    """Raise Refused unless a terminal's user, who owns the mailbox, gives the command, and no agent does.

    For commands that speak as the person, where a policy says who may write to them.
    """
    why = _why_not(mailbox_url)
    if why:
        raise Refused(f"a policy is set, and {why}", "the person writes from the console, or from a terminal")


def _why_not(mailbox_url: str) -> str:
    marks = [name for name in AGENTS if os.environ.get(name)]
    if marks:
        return f"{marks[0]} says that an agent gives this command"
    if not any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return "nobody gives this command at a terminal"
    path = Path(mailbox_url.partition(":")[2])
    try:
        owner = path.stat().st_uid
    except (OSError, ValueError):
        return ""  # several mailboxes, or one that is no file
    return "" if owner == os.geteuid() else "another user owns the mailbox"
