"""Replacements of spans of a text, and how they are undone exactly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """Text that takes the place of a span."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits made, whose spans must not overlap; insertions at one place stay in their order."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def undo_of(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits that turn the edited text into the text again."""
    undone: list[Edit] = []
    shift = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        start = edit.start + shift
        undone.append(Edit(start, start + len(edit.text), text[edit.start : edit.end]))
        shift += len(edit.text) - (edit.end - edit.start)
    return undone
