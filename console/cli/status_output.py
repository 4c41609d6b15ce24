"""What `signalbox status` prints with `--json`; the field names are the interface."""

from __future__ import annotations

from typing import Annotated

import msgspec

from console.cli.document import JsonOutput


class StatusRow(msgspec.Struct, frozen=True):
    """A mailbox's numbers, as they were counted last."""

    messages: Annotated[int | None, "How many messages are in it; null if nothing was counted yet."]
    unread: Annotated[int | None, "How many are new to you; null if nothing was counted yet."]
    for_you: Annotated[int | None, "How many of those are to you; null if nothing was counted yet."]
    dead: Annotated[int | None, "How many letters are dead; null if nothing was counted yet."]
    waiting: Annotated[
        int | None,
        "How many wait for a holder of their role, or for an agent that is frozen; null if nothing was counted yet.",
    ]
    expired: Annotated[int | None, "How many expired before they were read; null if nothing was counted yet."]
    unreadable: Annotated[int | None, "How many lines can't be read; null if nothing was counted yet."]
    quiet: Annotated[int | None, "How many are new to you, but muted or snoozed; null if nothing was counted yet."]
    mailboxes: Annotated[
        dict[str, int], "What is new to you in each of several mailboxes, by their labels; empty for a single one."
    ]
    is_certain: Annotated[bool, "Whether nothing has changed since they were counted."]
    counted_at: Annotated[str | None, "When they were counted; null if nothing was counted yet."]


NUMBERS = JsonOutput(StatusRow)
"""Printed without it, at once, by `console/status/printing.py`: importing msgspec would take longer than all else."""
