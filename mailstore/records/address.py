"""What an address can be, and its text form (docs/semantics.md, Addresses).

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.records.protocol import (
    BROADCAST_NAMES,
    BROADCAST_TTL_HOURS,
    DIRECT_TTL_HOURS,
    PERSON,
    TAG_NAMESPACES,
    USER_NAMES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, ClassVar

    from mailstore.records.agent_table import AgentTable


class Kind(str):
    """One of the seven things that an address can be; no `enum`, whose import costs a hook too much."""

    __slots__ = ()

    BROADCAST: ClassVar[Kind]
    USER: ClassVar[Kind]
    TAG: ClassVar[Kind]
    ROLE: ClassVar[Kind]
    DIRECT: ClassVar[Kind]
    UNKNOWN: ClassVar[Kind]
    LITERAL: ClassVar[Kind]


BROADCAST = Kind.BROADCAST = Kind("broadcast")
USER = Kind.USER = Kind("user")
TAG = Kind.TAG = Kind("tag")
ROLE = Kind.ROLE = Kind("role")
DIRECT = Kind.DIRECT = Kind("direct")
UNKNOWN = Kind.UNKNOWN = Kind("unknown")
LITERAL = Kind.LITERAL = Kind("literal")

DEFAULT_TTL_HOURS: dict[Kind, float | None] = {
    BROADCAST: BROADCAST_TTL_HOURS,
    USER: None,
    TAG: None,
    ROLE: None,
    DIRECT: DIRECT_TTL_HOURS,
    UNKNOWN: None,
    LITERAL: None,
}


class Address:
    """A recipient's text, resolved: its kind and the name under which its mail is kept. Immutable by convention.

    `name` is the session id for a direct address, the role for a role (see `role_key`; `role` is what it is called),
    the whole tag for a tag, `all` and `user` for those two (`lab/all` where `lab` is one of several mailboxes), else
    the text itself.
    """

    __slots__ = ("kind", "name", "role", "warning")

    def __init__(self, kind: Kind, name: str, warning: str = "", role: str = "") -> None:
        self.kind = kind
        self.name = name
        self.warning = warning
        self.role = role


def resolve(text: str, roster: AgentTable[Any], user: str = PERSON) -> Address:
    """Return what an address means to the roster as it is now.

    The first that applies: a broadcast, the user, a namespace prefix (`agent:` names a session), an exact
    session id, a role that a living agent holds, a role that anyone ever held, a unique prefix of a session
    id or an agent's name, a literal address of another system (`signal:+351…`), and else an unknown name.
    """
    key = (text, user)
    known: Address | None = roster.resolved.get(key)
    if known is None:
        known = roster.resolved[key] = _resolve(text, roster, user)
    return known


def _resolve(text: str, roster: AgentTable[Any], user: str) -> Address:
    if text in BROADCAST_NAMES:
        return Address(BROADCAST, "all")
    label, _, rest = text.partition("/")
    if rest in BROADCAST_NAMES and label in roster.scopes:
        return Address(BROADCAST, text)
    if is_person(text, roster, user):
        return Address(USER, PERSON)
    namespace, colon, rest = text.partition(":")
    if colon and rest and namespace in TAG_NAMESPACES:
        return Address(TAG, text)
    if colon and rest and namespace == "role":
        key = role_key(rest, roster, user)
        return Address(ROLE, key, role=rest) if roster.knows_role(rest) else Address(UNKNOWN, key)
    if colon and rest and namespace == "agent":
        found = roster.find(rest)
        return Address(DIRECT, found[0].session_id) if found else Address(UNKNOWN, rest)
    agent = roster.get(text)
    if agent is not None:
        clash = f"{text!r} is a session and a role: the session wins" if roster.knows_role(text) else ""
        return Address(DIRECT, text, clash)
    if roster.knows_role(text):
        return Address(ROLE, text, role=text)
    found = roster.find(text)
    if found is not None:
        return Address(DIRECT, found[0].session_id)
    if colon and rest:
        return Address(LITERAL, text)
    return Address(UNKNOWN, text)


def is_person(text: str, roster: AgentTable[Any], user: str = PERSON) -> bool:
    """Return whether a name in an address or a record is one of the user's."""
    return text == user or text in USER_NAMES or text in roster.person or text.startswith("person:")


def party(text: str, roster: AgentTable[Any], user: str = PERSON) -> str:
    """Return the name under which a sender's or recipient's mail is kept; all names of the user are one."""
    return PERSON if is_person(text, roster, user) else text


def role_key(role: str, roster: AgentTable[Any], user: str = PERSON) -> str:
    """Return the name under which a role's mail is kept: its own, unless a session or the user has that name."""
    is_taken = roster.get(role) is not None or role in BROADCAST_NAMES or is_person(role, roster, user)
    return f"role:{role}" if is_taken else role


def is_channel(text: str) -> bool:
    """Return whether an address is a tag of one of the three channel namespaces."""
    namespace, colon, rest = text.partition(":")
    return bool(colon and rest) and namespace in TAG_NAMESPACES


def channels_named(label: str, tags: list[str]) -> list[str]:
    """Return the tags among `tags` that `#label` (or `label`) can stand for."""
    bare = label.removeprefix("#")
    return sorted({tag for tag in tags if tag.partition(":")[2] == bare and tag.partition(":")[0] in TAG_NAMESPACES})


def shared_names(tags: Iterable[str]) -> frozenset[str]:
    """Return the names that tags of several namespaces have."""
    seen: set[str] = set()
    shared: set[str] = set()
    for name in (tag.partition(":")[2] for tag in {*tags} if is_channel(tag)):
        (shared if name in seen else seen).add(name)
    return frozenset(shared)


def channel_label(tag: str, shared: Collection[str]) -> str:
    """Return how a tag is shown: `#name`, or `#namespace:name` where two namespaces share the name."""
    bare = tag.partition(":")[2]
    return f"#{tag if bare in shared else bare}"
