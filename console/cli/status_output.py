"""What `signalbox status` prints with `--json`; the field names are the interface."""

from __future__ import annotations

import msgspec

from console.cli.document import JsonOutput


class StatusRow(msgspec.Struct, frozen=True):
    """A mailbox's numbers, as they were counted last."""

    messages: int | None
    """How many messages are in it; null if nothing was counted yet."""

    unread: int | None
    """How many are new to you; null if nothing was counted yet."""

    for_you: int | None
    """How many of those are to you; null if nothing was counted yet."""

    dead: int | None
    """How many letters are dead; null if nothing was counted yet."""

    waiting: int | None
    """How many wait for a holder of their role, or for an agent that is frozen; null if nothing was counted yet."""

    expired: int | None
    """How many expired before they were read; null if nothing was counted yet."""

    unreadable: int | None
    """How many lines can't be read; null if nothing was counted yet."""

    quiet: int | None
    """How many are new to you, but muted or snoozed; null if nothing was counted yet."""

    mailboxes: dict[str, int]
    """What is new to you in each of several mailboxes, by their labels; empty for a single one."""

    is_certain: bool
    """Whether nothing has changed since they were counted."""

    counted_at: str | None
    """When they were counted; null if nothing was counted yet."""


NUMBERS = JsonOutput(StatusRow)
"""Printed without it, at once, by `console/status/printing.py`: importing msgspec would take longer than all else."""
