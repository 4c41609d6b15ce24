"""What an export says about itself, and about each message in it."""

from __future__ import annotations

from dataclasses import dataclass

from console.export.fleet_svg import FleetFigures
from mailstore.transfer.export import Exported, text_digest

__all__ = ["About", "claim_of"]


@dataclass(frozen=True, slots=True)
class About:
    """What was exported: the mailbox's URL, the time (ISO 8601), and the query, view or thread selected.

    `fleet` is the traffic of what was exported, for formats that show it.
    """

    mailbox: str
    exported_at: str
    selection: str
    fleet: FleetFigures | None = None


def claim_of(message: Exported, shown: str) -> dict[str, object]:
    """Return what `signalbox verify` checks: the record's place, its digest, and the digest of the text shown."""
    return {
        "id": message.id,
        "file": message.file,
        "offset": message.offset,
        "sha256": message.sha256,
        "text_sha256": text_digest(shown),
    }
