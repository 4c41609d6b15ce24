"""What a store can do, and the reason for what it can't."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Capability(StrEnum):
    """Something that a mailbox may or may not support: following, a command, or a field of a message that is sent."""

    FOLLOW = "follow"
    SEND = "send"
    MARK_READ = "mark-read"
    UPDATE_ROSTER = "update-roster"
    RECORD = "record"
    ARCHIVE = "archive"
    SEVERAL = "address-several"
    SUBJECT = "give-a-subject"
    REPLY = "reply"
    TYPE = "give-a-type"
    TTL = "set-a-ttl"
    METADATA = "add-metadata"
    AUDIENCE = "record-the-audience"
    ADOPT = "take-over"


COMMANDS = (
    Capability.SEND,
    Capability.MARK_READ,
    Capability.UPDATE_ROSTER,
    Capability.RECORD,
    Capability.ARCHIVE,
    Capability.ADOPT,
)
"""The capabilities that stand for a command of `Store`."""
CARRIED = (
    Capability.SEVERAL,
    Capability.SUBJECT,
    Capability.REPLY,
    Capability.TYPE,
    Capability.TTL,
    Capability.METADATA,
    Capability.AUDIENCE,
)
"""The capabilities that stand for what a sent message can carry."""


class Capabilities(msgspec.Struct, frozen=True):
    """The capabilities a store lacks, each with the reason in words for a user; it has all the others."""

    missing: dict[Capability, str] = {}

    def __contains__(self, capability: Capability) -> bool:
        return capability not in self.missing

    def why_not(self, capability: Capability) -> str:
        """Return why a capability is missing; empty if it is there."""
        return self.missing.get(capability, "")

    def without(self, reason: str, *capabilities: Capability) -> Capabilities:
        """Return these capabilities less some, for one reason."""
        return Capabilities({**self.missing, **dict.fromkeys(capabilities, reason)})
