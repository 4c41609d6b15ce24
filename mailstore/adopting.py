"""What one mailbox takes over from another: records as they were, with their ids, senders and times."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.message import Delivery, Intervention, Message, Receipt
from mailstore.roster import Agent

__all__ = ["LONG_TTL_HOURS", "Adopted", "Letter"]

LONG_TTL_HOURS = 876_000.0
"""A hundred years: what a kind whose mail expires writes for mail that does not."""


class Letter(msgspec.Struct, frozen=True):
    """A message with its body, and the `metadata` that its record has, if it is a JSON object."""

    message: Message
    content: str
    metadata: dict[str, Any] = {}


Adopted = Agent | Letter | Receipt | Delivery | Intervention
