"""Divide the screen among the sections of the overview."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from console.overview.model import OverviewModel
from console.screens.overview.place import SECTIONS

WIDE, TALL = 100, 30
"""From this size on all sections are shown; on smaller screens one at a time."""
LOW = 20
"""From so many lines on the heartbeat is shown above each of the others."""
AROUND = 3
"""The lines above and below the sections."""
HEARTBEAT, LOW_HEARTBEAT, MOST_HEARTBEAT = 9, 8, 16
TABLE_AROUND, MATRIX_AROUND = 3, 5
LEAST_BELOW = 10


def arrange(screen: Screen[Any], section: str, model: OverviewModel | None) -> None:
    """Show all sections, or as many as fit beside one of them, and give each the lines that it has a use for."""
    width, height = screen.app.size  # the screen's own is not known before its first layout
    is_whole = width >= WIDE and height >= TALL
    below = section if section != "heartbeat" else "agents"
    for name in SECTIONS:
        is_on = is_whole or name == section or (height >= LOW and name in ("heartbeat", below))
        screen.query_one(f"#{name}").display = is_on
    screen.query_one("#lower").display = is_whole or section in ("channels", "matrix")
    heartbeat, agents = screen.query_one("#heartbeat").styles, screen.query_one("#agents").styles
    if not is_whole:
        heartbeat.height = "1fr" if height < LOW else LOW_HEARTBEAT
        agents.height = "1fr"
        return
    heartbeat.height, agents.height = _shares(height - AROUND, model)


def _shares(height: int, model: OverviewModel | None) -> tuple[int, int]:
    """Return the heights of the heartbeat and of the table of agents; the rest is for channels and the matrix."""
    rows = channels = senders = 0
    if model is not None:
        rows, channels = len(model.agents), len(model.channels)
        senders = len(model.pairs)
    wanted = max(senders + MATRIX_AROUND, channels + TABLE_AROUND, LEAST_BELOW)
    lower = min(wanted, max(LEAST_BELOW, (height - HEARTBEAT) * 2 // 5))
    table = min(max(rows, 3) + TABLE_AROUND, height - HEARTBEAT - lower)
    return min(MOST_HEARTBEAT, max(HEARTBEAT, height - table - lower)), table
