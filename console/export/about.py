"""What an export says about itself, and about each message in it."""

from __future__ import annotations

from dataclasses import dataclass

from console.export.fleet_svg import FleetFigures
from mailstore.transfer.export import Exported

NOT_COVERED = "signalbox verify checks the messages below, not this beginning."


@dataclass(frozen=True, slots=True)
class About:
    """What was exported: the mailbox's URL, the time (ISO 8601), and the query, view or thread selected.

    `fleet` is the traffic of what was exported, for formats that show it.
    """

    mailbox: str
    exported_at: str
    selection: str
    fleet: FleetFigures | None = None


def claim_of(message: Exported) -> dict[str, object]:
    """Return what `signalbox verify` starts from: the record's place and digest, and how the message stood.

    All else that a document shows of a message follows from its record, and is compared with it.
    """
    return {
        "id": message.id,
        "file": message.file,
        "offset": message.offset,
        "sha256": message.sha256,
        "root": message.root,
        "archived": message.archived,
        "states": message.states,
        "shown_sha256": message.shown_sha256,
    }
