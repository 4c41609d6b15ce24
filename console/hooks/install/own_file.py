"""Files that are Signalbox's as a whole: they are replaced and removed, but never one that another author wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from console.errors import Refused
from console.hooks.install.text_edits import Edit


def adding_file(text: str, new: str, is_ours: Callable[[str], bool], path: Path) -> list[Edit]:
    """Return the edit that replaces a file's text; raises Refused unless the file is empty or ours."""
    if text.strip() and not is_ours(text):
        raise Refused(f"{path} was not written by Signalbox", "move it away first; nothing was changed")
    return [Edit(0, len(text), new)]


def removing_file(text: str, is_ours: Callable[[str], bool]) -> list[Edit]:
    """Return the edit that empties a file of ours, which is then removed."""
    return [Edit(0, len(text), "")] if is_ours(text) else []
