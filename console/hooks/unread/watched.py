"""The files by which a hook sees, before anything is opened, that there may be mail. Imports only `os`: hooks do."""

from __future__ import annotations

import os

HAAK = "haak"


def mailbox_file(mailbox: str) -> str:
    """Return the path of the file to which every letter is appended; empty for kinds that have none."""
    kind, _, place = mailbox.partition(":")
    return place if kind == HAAK else ""


def bell_of(folder: str, tool: str, session_id: str) -> str:
    """Return the file in a folder of hooks' state that is touched to wake a session."""
    return f"{folder}/bell-{tool}-{session_id}"


def paths_of(mailbox: str) -> list[str]:
    """Return the paths whose stats change when mail comes; none for kinds that only their store knows."""
    if not (place := mailbox_file(mailbox)):
        return []
    folder, name = os.path.split(place)
    roster = [f"{folder}/agent-roster.jsonl", f"{folder}/agent-roster.json"]
    return [place, *roster, f"{folder}/{name.removesuffix('.jsonl')}-deliveries.jsonl"]
