"""What an export says about itself, and about each message in it."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

from console.export.fleet_svg import FleetFigures
from mailstore.transfer.export import Exported, text_digest

__all__ = ["About", "claim_of", "fields_digest", "piece_digest", "sealed"]

BLANK = "0" * 64


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
    """Return what `signalbox verify` checks: the record's place, its digest, and the digests of the text and of all.

    The last one is a random text until the piece of the document that contains it is sealed.
    """
    return {
        "id": message.id,
        "file": message.file,
        "offset": message.offset,
        "sha256": message.sha256,
        "text_sha256": text_digest(shown),
        "evidence_sha256": secrets.token_hex(32),
    }


def sealed(piece: str, claim: dict[str, object]) -> str:
    """Return a piece of a document with the digest of all of it in its claim."""
    token = str(claim["evidence_sha256"])
    return piece.replace(token, piece_digest(piece, token))


def piece_digest(piece: str, evidence: str) -> str:
    """Return the digest of a piece of a document, in which its own digest stands once; empty if it does not."""
    return text_digest(piece.replace(evidence, BLANK)) if piece.count(evidence) == 1 else ""


def fields_digest(head: dict[str, Any], fields: dict[str, Any]) -> str:
    """Return the digest of what a JSON export shows of a message; of the first one, with the head of the export."""
    return text_digest(json.dumps([head, fields], sort_keys=True))
