"""How a place is read: its threads as trees of replies, sorted by time, or all of its messages as one stream."""

from __future__ import annotations

from typing import Literal

from console.panes.sidebar import Sidebar
from console.personal import PersonalData
from mailstore.state.views import View

Mode = Literal["tree", "flat", "stream"]

REMEMBERED = "reading-modes"
"""The name under which the modes of places are remembered."""
STREAMS = frozenset({"all", "channel", "agent", "role", "type", "saved", "found"})
PLACES = frozenset({"channel", "agent", "role"})
"""Kinds of views that can be written to."""
GONE_TO = PLACES | {"type"}
"""Kinds of views whose stream is read as soon as one is there."""


def may_stream(view: View) -> bool:
    """Return whether the messages of a view can be read as one stream."""
    return view.kind in STREAMS


def modes_of(view: View) -> tuple[Mode, ...]:
    """Return the modes in which a view can be read."""
    return ("tree", "flat", "stream") if may_stream(view) else ("tree", "flat")


def _key(view: View) -> str:
    """Return the name of a view's mode: the hits of all searches have one."""
    return Sidebar.key_of(View("found") if view.kind == "found" else view)


def mode_of(personal: PersonalData, view: View) -> Mode:
    """Return the mode that was chosen for a view; without one, channels and types are read as streams."""
    chosen = personal.recall(REMEMBERED, {})
    mode = chosen.get(_key(view)) if isinstance(chosen, dict) else None
    otherwise: Mode = "stream" if view.kind in ("channel", "type") else "tree"
    return next((each for each in modes_of(view) if each == mode), otherwise)


def set_mode(personal: PersonalData, view: View, mode: Mode) -> None:
    """Choose the mode of a view; `save_remembered` follows."""
    chosen = personal.recall(REMEMBERED, {})
    known = chosen if isinstance(chosen, dict) else {}
    personal.remember(REMEMBERED, {**known, _key(view): mode})
