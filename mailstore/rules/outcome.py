"""What becomes of a message for one recipient, as far as neither time nor sender decides it.

One message, many at once (`mailstore/bulk/open_mail.py`) and a hook's quick way all ask these functions; they add the
comparison with the clock, and nothing else. Imports next to nothing (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.records.address import LITERAL, ROLE, role_key
from mailstore.records.address import UNKNOWN as UNKNOWN_ADDRESS
from mailstore.records.agent_table import DEAD as DEAD_AGENT
from mailstore.records.agent_table import FROZEN as FROZEN_AGENT
from mailstore.records.protocol import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mailstore.records.agent_table import AgentTable
    from mailstore.rules.audience import Facts, Recipient

READ, UNDELIVERED, UNKNOWN, DEAD = "read", "undelivered", "unknown", "dead"
WAITING, FROZEN = "waiting", "frozen"
ARCHIVED, UNRECORDED, EXPIRED, UNREAD = "archived", "unrecorded", "expired", "unread"
OPEN_TO_AGENT = (UNREAD, FROZEN)
OPEN_TO_ROLE = (UNREAD, FROZEN, WAITING, UNRECORDED)


def state_unless_read(one: Recipient, roster: AgentTable[Any], *, is_tracked: bool = True) -> str:
    """Return the state of mail that a recipient has not read; UNREAD where the clock decides whether it is EXPIRED.

    `is_tracked` says whether it is recorded who reads the message.
    """
    kind = one.kind
    if kind is UNKNOWN_ADDRESS or kind is LITERAL:
        return UNKNOWN
    if kind is ROLE:
        holders = roster.holders(one.role)
        if not holders:
            return WAITING
        if not is_tracked:
            return UNRECORDED
        return FROZEN if all(holder.status == FROZEN_AGENT for holder in holders) else UNREAD
    if not is_tracked:
        return UNRECORDED
    if one.name == PERSON:
        return UNREAD
    agent = roster.get(one.name)
    if agent is None:
        return UNKNOWN
    if agent.status == DEAD_AGENT:
        return DEAD
    return FROZEN if agent.status == FROZEN_AGENT else UNREAD


def end_of(one: Recipient, time: float, expiry: float, roster: AgentTable[Any]) -> float:
    """Return when mail sent at `time` expires for a recipient, whose TTL is suspended while it is frozen."""
    if one.kind is ROLE:
        return roster.end_for_role(one.role, time, expiry)
    return roster.end_for(one.name, time, expiry)


def has_expired(one: Recipient, time: float, roster: AgentTable[Any], now: float) -> bool:
    """Say whether mail sent at `time` has expired for a recipient; `now` in seconds since the epoch."""
    return now >= one.expiry and now >= end_of(one, time, one.expiry, roster)


def may_be_suspended(one: Recipient, roster: AgentTable[Any]) -> bool:
    """Say whether a TTL was ever suspended for a recipient; if not, mail expires at its own expiry."""
    return any(map(roster.was_frozen, roster.held(one.role) if one.kind is ROLE else (one.name,)))


def readers_for(one: Recipient, roster: AgentTable[Any]) -> list[tuple[str, bool]]:
    """Return whose read records make mail READ for a recipient, and whether also as the mail's sender.

    For a role these are all that ever held it, but none for mail that it sent itself.
    """
    if one.kind is not ROLE:
        return [(one.name, True)]
    return [(one.name, True), *((name, False) for name in roster.held(one.role))]


def readers_of(one: Recipient, sender: str, facts: Facts, roster: AgentTable[Any]) -> list[str]:
    """Return who has read a message as a recipient, or for it."""
    known = facts.readers
    if one.kind is not ROLE:
        return [one.name] if one.name in known else []
    return [name for name, is_any in readers_for(one, roster) if name in known and (is_any or name != sender)]


def recipients_read_by(reader: str, sender: str, roster: AgentTable[Any], user: str = PERSON) -> list[tuple[bool, str]]:
    """Return for whom a read record makes mail READ, the inverse of `readers_for`: whether a role, and its name."""
    roles = set(roster.ever_held(reader)) if reader != sender else set()
    if role_key(reader, roster, user) == reader:
        roles.add(reader)
    return [(False, reader), *((True, role) for role in roles)]


def is_open(one: Recipient, state: str) -> bool:
    """Say whether live mail in a state still has to be read: by the recipient, or by a holder of the role."""
    return state in (OPEN_TO_ROLE if one.kind is ROLE else OPEN_TO_AGENT)


def is_dead_letter(one: Recipient, state: str) -> bool:
    """Say whether mail in a state is a dead letter, unless it has been settled."""
    return state in (UNKNOWN, UNDELIVERED) or (one.is_direct and state in (DEAD, EXPIRED))
