"""What a store hands to the mailbox: records, and news about the files that hold them."""

from __future__ import annotations

import msgspec

from mailstore.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.roster import Agent

__all__ = ["Event", "Gone", "Progress", "Reset"]


class Reset(msgspec.Struct, frozen=True, gc=False):
    """Forget all records: the files were replaced or cut, and everything follows anew."""

    reason: str


class Gone(msgspec.Struct, frozen=True, gc=False):
    """The mailbox can't be reached; a `Reset` follows when it is back."""

    reason: str


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How much of a scan is done, in bytes."""

    done: int
    total: int


Event = Message | Receipt | Delivery | Agent | Intervention | Problem | Progress | Reset | Gone
