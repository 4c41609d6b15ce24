"""What a mute leaves out (docs/quiet.md): pure functions of a message and of what the user has muted."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from mailstore.records.address import is_channel, is_person, party
from mailstore.records.agent_table import AgentTable
from mailstore.records.events import OwnMarks
from mailstore.records.protocol import BROADCAST_NAMES
from mailstore.rules.unread import is_for_user

if TYPE_CHECKING:
    from mailstore.rules.audience import Headed


def is_muted_channel(recipients: Collection[str], marks: OwnMarks) -> bool:
    """Say whether every channel that a message is sent to is muted; one sent to all is not."""
    channels = [name for name in recipients if is_channel(name)]
    if not channels or not marks.channels.issuperset(channels):
        return False
    return not any(name in BROADCAST_NAMES or name.endswith("/all") for name in recipients)


def is_muted_type(kind: str, label: str, marks: OwnMarks) -> bool:
    """Say whether a type is muted in the mailbox with a label; the label is empty for a single mailbox."""
    return kind in marks.types or (bool(label) and f"{label}/{kind}" in marks.types)


def is_muted_agent(sender: str, marks: OwnMarks, roster: AgentTable[Any], user: str) -> bool:
    """Say whether a sender is a muted agent: by its session id, a start of it, or a name that no other agent has."""
    if sender in marks.agents or party(sender, roster, user) in marks.agents:
        return True
    named = (roster.get(name) for name in marks.agents)
    if not any(agent is not None and agent.name == sender for agent in named):
        return False
    return len([agent for agent in roster if agent.name == sender]) == 1


def breaks_through(head: Headed, answered: str | None, roster: AgentTable[Any], user: str) -> bool:
    """Say whether a message reaches the user in spite of a mute: it addresses or mentions them, or answers them.

    `answered` is the sender of the message that it answers; None if there is none.
    """
    return is_for_user(head, roster, user) or (answered is not None and is_person(answered, roster, user))
