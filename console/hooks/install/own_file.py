"""Files that are Signalbox's as a whole: they are replaced and removed, but never one that another author wrote."""

from __future__ import annotations

from pathlib import Path

from console.errors import Refused
from console.hooks.install.text_edits import Edit

__all__ = ["adding_file", "removing_file"]


def adding_file(text: str, new: str, mark: str, path: Path) -> list[Edit]:
    """Return the edit that replaces a file's text; raises Refused unless the file is empty or has our mark."""
    if text.strip() and mark not in text:
        raise Refused(f"{path} was not written by Signalbox", "move it away first; nothing was changed")
    return [Edit(0, len(text), new)]


def removing_file(text: str, mark: str) -> list[Edit]:
    """Return the edit that empties a file with our mark, which is then removed."""
    return [Edit(0, len(text), "")] if mark in text else []
