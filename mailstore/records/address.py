"""What an address can be, and its text form (semantics: addresses; formats/haak.md 7, 8, 10, 11)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from mailstore.records.protocol import (
    BROADCAST_NAMES,
    BROADCAST_TTL_HOURS,
    DIRECT_TTL_HOURS,
    PERSON,
    TAG_NAMESPACES,
    USER_NAMES,
)
from mailstore.records.roster import Roster

__all__ = [
    "DEFAULT_TTL_HOURS",
    "Address",
    "Kind",
    "channel_label",
    "channels_named",
    "is_person",
    "party",
    "resolve",
    "role_key",
]


class Kind(StrEnum):
    """The seven things that an address can be."""

    BROADCAST = "broadcast"
    USER = "user"
    TAG = "tag"
    ROLE = "role"
    DIRECT = "direct"
    UNKNOWN = "unknown"
    LITERAL = "literal"


DEFAULT_TTL_HOURS: dict[Kind, float | None] = {
    Kind.BROADCAST: BROADCAST_TTL_HOURS,
    Kind.USER: None,
    Kind.TAG: None,
    Kind.ROLE: None,
    Kind.DIRECT: DIRECT_TTL_HOURS,
    Kind.UNKNOWN: None,
    Kind.LITERAL: None,
}


class Address(msgspec.Struct, frozen=True, gc=False):
    """A recipient's text, read: its kind and the name under which its state is kept.

    `name` is the session id for a direct address, the role for a role (see `role_key`; `role` is what it is called),
    the whole tag for a tag, `all` and `user` for those two (`lab/all` where `lab` is one of several mailboxes), else
    the text as it stands.
    """

    kind: Kind
    name: str
    warning: str = ""
    role: str = ""


def resolve(text: str, roster: Roster, user: str = "user") -> Address:
    """Read an address as the roster understands it now.

    The first that applies: a broadcast, the user, a namespace prefix (`agent:` names a session), an exact
    session id, a role that a living agent holds, a role that anyone ever held, a unique prefix of a session
    id or an agent's name, a literal address of another system (`signal:+351…`), and else an unknown name.
    """
    key = (text, user)
    known = roster.resolved.get(key)
    if known is None:
        known = roster.resolved[key] = _resolve(text, roster, user)
    return known


def _resolve(text: str, roster: Roster, user: str) -> Address:
    if text in BROADCAST_NAMES:
        return Address(Kind.BROADCAST, "all")
    label, _, rest = text.partition("/")
    if rest in BROADCAST_NAMES and label in roster.scopes:
        return Address(Kind.BROADCAST, text)
    if is_person(text, roster, user):
        return Address(Kind.USER, PERSON)
    namespace, colon, rest = text.partition(":")
    if colon and rest and namespace in TAG_NAMESPACES:
        return Address(Kind.TAG, text)
    if colon and rest and namespace == "role":
        key = role_key(rest, roster, user)
        return Address(Kind.ROLE, key, role=rest) if roster.knows_role(rest) else Address(Kind.UNKNOWN, key)
    if colon and rest and namespace == "agent":
        found = roster.find(rest)
        return Address(Kind.DIRECT, found[0].session_id) if found else Address(Kind.UNKNOWN, rest)
    agent = roster.get(text)
    if agent is not None:
        clash = f"{text!r} is a session and a role: the session wins" if roster.knows_role(text) else ""
        return Address(Kind.DIRECT, text, clash)
    if roster.knows_role(text):
        return Address(Kind.ROLE, text, role=text)
    found = roster.find(text)
    if found is not None:
        return Address(Kind.DIRECT, found[0].session_id)
    if colon and rest:
        return Address(Kind.LITERAL, text)
    return Address(Kind.UNKNOWN, text)


def is_person(text: str, roster: Roster, user: str = PERSON) -> bool:
    """Say whether a name in an address or a record is one of the person's."""
    return text == user or text in USER_NAMES or text in roster.person or text.startswith("person:")


def party(text: str, roster: Roster, user: str = PERSON) -> str:
    """Return under which name somebody's mail is kept: the person has one, whichever a record uses."""
    return PERSON if is_person(text, roster, user) else text


def role_key(role: str, roster: Roster, user: str = PERSON) -> str:
    """Return under which name a role's mail is kept: its own, unless that is the name of somebody else."""
    is_taken = roster.get(role) is not None or role in BROADCAST_NAMES or is_person(role, roster, user)
    return f"role:{role}" if is_taken else role


def is_channel(text: str) -> bool:
    """Say whether an address is a tag of one of the three channel namespaces."""
    namespace, colon, rest = text.partition(":")
    return bool(colon and rest) and namespace in TAG_NAMESPACES


def channels_named(label: str, tags: list[str]) -> list[str]:
    """Return the tags among `tags` that `#label` (or `label`) can stand for."""
    bare = label.removeprefix("#")
    return sorted({tag for tag in tags if tag.partition(":")[2] == bare and tag.partition(":")[0] in TAG_NAMESPACES})


def channel_label(tag: str, tags: list[str]) -> str:
    """Return how a tag is shown: `#name`, or `#namespace:name` where two namespaces share the name."""
    bare = tag.partition(":")[2]
    return f"#{bare}" if len(channels_named(bare, tags)) <= 1 else f"#{tag}"
