"""The files and folders of a mailbox whose change may mean mail. Imports only `os` and such, because hooks do."""

from __future__ import annotations

import os

from console.hooks.site_packages import turn_on

HAAK, SEVERAL = "haak", "several"
DATABASES = frozenset({"hcom", "neo"})
TEAMS = "claude-teams"
FOLDERS = frozenset({"agenties", "agentazall", "agent-mail", "channels", "omo"})
"""Kinds whose mail is in the files at their place; where others have theirs is not known."""
MOST_PATHS = 300


def mailbox_file(mailbox: str) -> str:
    """Return the path of the file to which every letter is appended; empty for kinds that have none."""
    kind, _, place = mailbox.partition(":")
    return place if kind == HAAK else ""


def bell_of(folder: str, tool: str, session_id: str) -> str:
    """Return the file in a folder of hooks' state that is touched to wake a session."""
    return f"{folder}/bell-{tool}-{session_id}"


def paths_of(mailbox: str) -> list[str]:
    """Return the paths whose stats change when mail comes; none where there are no such paths."""
    kind, _, place = mailbox.partition(":")
    if place.startswith("//"):
        return []
    if kind == SEVERAL:
        turn_on()
        from mailstore.records.scope import parts_of

        found = [paths_of(part) for part in parts_of(mailbox).values()]
        return [path for paths in found for path in paths] if all(found) else []
    if kind == HAAK:
        folder, name = os.path.split(place)
        roster = [f"{folder}/agent-roster.jsonl", f"{folder}/agent-roster.json"]
        return [place, *roster, f"{folder}/{name.removesuffix('.jsonl')}-deliveries.jsonl"]
    if kind in DATABASES or (kind in FOLDERS and os.path.isfile(place)):  # noqa: PTH113
        return [place, f"{place}-wal"]
    trees = [_tree(top) for top in _tops(kind, place)]
    return [path for tree in trees for path in tree] if all(trees) else []


def _tops(kind: str, place: str) -> list[str]:
    """Return the folders that hold a mailbox's files."""
    if kind != TEAMS:
        return [place] if kind in FOLDERS else []
    above, name = os.path.split(place)
    return [place, f"{above}/tasks", f"{os.path.dirname(above)}/tasks/{name}"]  # noqa: PTH120 - of several teams, of one


def _tree(top: str) -> list[str]:
    """Return a folder and all that is in it; its folders alone where there are many files, each of them a letter.

    Nothing where there are very many folders.
    """
    folders, files = [top], []
    for folder, inner, names in os.walk(top):
        folders += [f"{folder}/{name}" for name in inner]
        files += [f"{folder}/{name}" for name in names]
        if len(folders) > MOST_PATHS:
            return []
    return folders if len(folders) + len(files) > MOST_PATHS else folders + files
