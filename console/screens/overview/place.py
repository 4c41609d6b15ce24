"""Where the user was in the overview, and what the overview was left for."""

from __future__ import annotations

from dataclasses import dataclass, field

from console.overview.model import OverviewModel
from console.panes.overview.brush import Brush

SECTIONS = ("heartbeat", "agents", "channels", "matrix")


@dataclass
class OverviewPlace:
    """The span, the section, the cursor of each, and the last picture, shown until there is a newer one."""

    span: str = "1d"
    section: str = "agents"
    brush: Brush = field(default_factory=Brush)
    agent: str | None = None
    channel: str | None = None
    pair: tuple[str, str] | None = None
    model: OverviewModel | None = None
    moment: float | None = None
    """The moment of the past that the picture is of, in seconds since the epoch; None for live."""


@dataclass(frozen=True, slots=True)
class Departure:
    """The query whose threads are wanted, or the moment to go to (seconds since the epoch)."""

    query: str = ""
    moment: float | None = None
