"""What became of records that a mailbox was to take over while programs use it."""

from __future__ import annotations

import msgspec

from mailstore.records.adopted import Adopted


class TurnedAway(msgspec.Struct, frozen=True):
    """A record that a mailbox can't hold at all, and why."""

    record: Adopted
    reason: str


class Merged(msgspec.Struct, frozen=True):
    """The records that were there already, and those that can't be held; all others were written."""

    present: tuple[Adopted, ...] = ()
    refused: tuple[TurnedAway, ...] = ()
