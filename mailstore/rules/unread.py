"""What "unread", "unseen", "for the user" and "muted" mean, each stated once.

- **Unread** is said of a recipient, from the records of the mailbox: nothing records that it read the message, and
  it still can (`is_open`, `own_of`). The mail of an agent is its own, and that of the roles it holds.
- **Unseen** is said of the user alone, from what they looked at in the console, which Signalbox keeps for itself.
- **For the user** is mail that is addressed to the user or mentions them, under any of their names.
- **Muted** is what the user doesn't want to see unless it asks them something (docs/quiet.md).

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.records.address import (
    BROADCAST,
    DIRECT,
    LITERAL,
    ROLE,
    TAG,
    UNKNOWN,
    USER,
    is_channel,
    is_person,
    party,
    resolve,
)
from mailstore.records.agent_table import DEAD
from mailstore.records.protocol import BROADCAST_NAMES, PERSON, USER_NAMES
from mailstore.rules.audience import recipients
from mailstore.rules.outcome import UNREAD, has_expired, is_open, readers_of, state_unless_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, TypeVar

    from mailstore.records.agent_table import AgentTable, Registered
    from mailstore.records.events import OwnMarks
    from mailstore.rules.audience import Facts, Headed, Recipient, SentMessage, Way

    Truth = TypeVar("Truth", bound=Any)


def is_for_user(head: Headed, roster: AgentTable[Any], user: str = PERSON) -> bool:
    """Say whether a message, or what many messages share, addresses the user or mentions them."""
    return any(is_person(name, roster, user) for name in (*head.recipients, *head.mentions))


def never_unseen(archived: Truth, own: Truth) -> Truth:
    """Say whether a message never counts as unseen: archived mail, and what the user sent; or say it of many."""
    return archived | own  # type: ignore[no-any-return]


def is_due_to_sender(head: Headed, joined: Collection[str], roster: AgentTable[Any], user: str = PERSON) -> bool:
    """Say whether the sender of a message that the user has seen waits for a read record of theirs.

    It does where the message is addressed to the user, to everybody, or to one of the channels they joined.
    """
    kinds = [(text, resolve(text, roster, user).kind) for text in head.recipients]
    return any(kind is USER or kind is BROADCAST or (kind is TAG and text in joined) for text, kind in kinds)


def roles_of(agent: Registered | None) -> tuple[str, ...]:
    """Return the roles whose unread mail an agent has to read: those that it holds, unless it is dead."""
    return () if agent is None or agent.status == DEAD else agent.roles()


def is_nobody(name: str, roster: AgentTable[Any], user: str = PERSON) -> bool:
    """Return whether no mail can be unread under a name, because it is neither an agent's nor a role's."""
    kind = resolve(name, roster, user).kind
    return kind is UNKNOWN or kind is LITERAL


def registered_name(name: str, roster: AgentTable[Any], user: str = PERSON) -> str:
    """Return a sender's name if the roster knows it; one name for the user, and nothing for any other sender.

    A mailbox without a roster knows no one, and any name will do.
    """
    kind = resolve(name, roster, user).kind
    if kind is USER:
        return name if name in USER_NAMES else PERSON
    return name if kind is DIRECT or kind is ROLE or not len(roster) else ""


def own_of(found: Iterable[Recipient], name: str, sender: str, time: float, roster: AgentTable[Any]) -> list[Recipient]:
    """Return as which of a message's recipients a reader has it: as itself, and in its roles.

    Mail to a role is its own if it lived and held the role while the mail lasted, and did not send it.
    """
    return [
        recipient
        for recipient in found
        if recipient.name == name
        or (recipient.kind is ROLE and name != sender and roster.is_own(name, recipient.role, time, recipient.expiry))
    ]


def has_to_read(
    name: str,
    message: SentMessage,
    facts: Facts,
    roster: AgentTable[Any],
    now: float,
    *,
    user: str = PERSON,
    opened: Iterable[Way] | None = None,
) -> bool:
    """Say whether an agent, or the user, has a live message whose reads are recorded still to read.

    For many messages there is the ledger of a mailbox; this is for a single one. `opened` are those of its ways
    that matter, where they are known; `now` in seconds since the epoch.
    """
    sender = party(message.sender, roster, user)
    for one in own_of(recipients(message, facts, roster, user, opened), name, sender, message.time, roster):
        is_held = one.kind is not ROLE or one.role in roles_of(roster.get(name))
        if is_held and not readers_of(one, message.sender, facts, roster):
            state = state_unless_read(one, roster)
            if is_open(one, state) and not (state == UNREAD and has_expired(one, message.time, roster, now)):
                return True
    return False


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
