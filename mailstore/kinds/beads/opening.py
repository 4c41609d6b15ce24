"""Choose what a Beads database is read from."""

from __future__ import annotations

import os
from pathlib import Path

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.whole import NotAFile
from mailstore.kinds.beads.asking import BEHIND, AskingOrigin
from mailstore.kinds.beads.origins import ExportOrigin, IssueOrigin
from mailstore.kinds.beads.places import ROUTES, BeadsPlaces, find, rigs_of
from mailstore.kinds.beads.program import program
from mailstore.kinds.beads.rigs import NO_AGENTS, RigRecords
from mailstore.kinds.beads.tables import TablesOrigin
from mailstore.records.message import Problem


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


def rigs_in(folder: Path) -> tuple[list[RigRecords], list[Problem]]:
    """Return what the agents of a town's rigs are read from, their files only, and what could not be found."""
    found: list[RigRecords] = []
    problems: list[Problem] = []
    try:
        rigs = rigs_of(folder)
    except (OSError, NotAFile) as error:
        return [], [Problem(ROUTES, 1, 0, f"the rigs' agents are missing: {reason_of(error)}", fatal=False)]
    for rig in rigs:
        name = shown_name(os.path.relpath(rig, folder.parent))
        try:
            place = find(rig)
        except OSError as error:
            problems.append(Problem(name, 1, 0, f"{NO_AGENTS}: {reason_of(error)}", fatal=False))
            continue
        if place is not None and place.folder != folder:
            origin = TablesOrigin(place.database) if place.database else ExportOrigin(place.export)
            found.append(RigRecords(name, origin))
    return found, problems
