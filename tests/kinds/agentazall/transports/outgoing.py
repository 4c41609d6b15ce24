"""Letters to send in the tests of transports."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.kinds.agentazall.transports.transport import OutgoingLetter


def letter(**changes: Any) -> OutgoingLetter:
    """Return a letter from ann to bob, changed."""
    made = OutgoingLetter(
        id="4d15c1f79f99",
        sender="ann@localhost",
        recipients=("bob@localhost",),
        subject="Grüße",
        date="2026-11-20T20:46:47+00:00",
        body="The text.\n\nIts end ✓",
    )
    return msgspec.structs.replace(made, **changes)
