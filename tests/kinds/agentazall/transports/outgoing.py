"""Messages to send in the tests of transports."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.kinds.agentazall.transports.transport import OutgoingMessage


def message(**changes: Any) -> OutgoingMessage:
    """Return a message from ann to bob, changed."""
    made = OutgoingMessage(
        id="4d15c1f79f99",
        sender="ann@localhost",
        recipients=("bob@localhost",),
        subject="Grüße",
        date="2026-11-20T20:46:47+00:00",
        body="The text.\n\nIts end ✓",
    )
    return msgspec.structs.replace(made, **changes)
