"""Choose what a Beads database is read from."""

from __future__ import annotations

from pathlib import Path

from mailstore.stores.beads.asking import BEHIND, AskingOrigin
from mailstore.stores.beads.origins import ExportOrigin, IssueOrigin
from mailstore.stores.beads.places import BeadsPlaces, find_for_agents, rigs_of
from mailstore.stores.beads.program import program
from mailstore.stores.beads.tables import TablesOrigin

__all__ = ["notice_of", "origin_of", "rig_origins"]


def origin_of(places: BeadsPlaces) -> IssueOrigin:
    """Return what the mail of a database is read from: files, and `bd` only for what they can't tell."""
    if places.dolt and (bd := program()):
        return AskingOrigin(places, places.dolt, bd)
    return _files_of(places)


def _files_of(places: BeadsPlaces) -> IssueOrigin:
    return (
        TablesOrigin(places.database) if places.database else ExportOrigin(places.export, BEHIND if places.dolt else "")
    )


def notice_of(places: BeadsPlaces, origin: IssueOrigin) -> str:
    """Return what a reader must know of where the mail is from; empty if it is complete."""
    if isinstance(origin, AskingOrigin):
        return origin.notice
    return BEHIND if places.dolt else ""


def rig_origins(folder: Path) -> list[IssueOrigin]:
    """Return what the agents of a town's rigs are read from: their files only."""
    found = [place for rig in rigs_of(folder) if (place := find_for_agents(rig)) and place.folder != folder]
    return [_files_of(place) for place in found]
