"""Choose what a Beads database is read from."""

from __future__ import annotations

from pathlib import Path

from mailstore.stores.beads.origins import ExportOrigin, IssueOrigin
from mailstore.stores.beads.places import BeadsPlaces, find_for_agents, rigs_of
from mailstore.stores.beads.tables import TablesOrigin

__all__ = ["origin_of", "rig_origins"]


def origin_of(places: BeadsPlaces) -> IssueOrigin:
    """Return what the mail of a database is read from."""
    return TablesOrigin(places.database) if places.database else ExportOrigin(places.export)


def rig_origins(folder: Path) -> list[IssueOrigin]:
    """Return what the agents of a town's rigs are read from: their files only."""
    found = [place for rig in rigs_of(folder) if (place := find_for_agents(rig)) and place.folder != folder]
    return [origin_of(place) for place in found]
