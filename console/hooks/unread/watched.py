"""The files by which a hook sees, before anything is opened, that there may be mail. Imports little: hooks do."""

from __future__ import annotations

from console.hooks.log import log_unexpected
from mailstore.quick_answers import quick_answers

HAAK = "haak"


def mailbox_file(mailbox: str) -> str:
    """Return the path of the file to which every message is appended; empty for kinds that have none."""
    kind, _, place = mailbox.partition(":")
    return place if kind == HAAK else ""


def bell_of(folder: str, tool: str, session_id: str) -> str:
    """Return the file in a folder of hooks' state that is touched to wake a session."""
    return f"{folder}/bell-{tool}-{session_id}"


def paths_of(mailbox: str) -> list[str]:
    """Return the paths whose stats change when mail comes; none for kinds that only their store knows."""
    kind, _, location = mailbox.partition(":")
    try:
        answers = quick_answers(kind)
        return list(answers.watched(location)) if answers else []
    except Exception as error:  # its package is damaged: its store says so
        log_unexpected("hook", "watched", error)
        return []
