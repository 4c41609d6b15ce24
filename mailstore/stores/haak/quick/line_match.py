"""Which mail is one agent's, decided from its own lines and what a roster names: only what is usual.

Whatever takes more than that raises `Unusual`. Imports next to nothing, as `glance` does, which asks it.
"""

from __future__ import annotations

from mailstore.files.scan import Unusual
from mailstore.kit.timestamps import parse_time
from mailstore.records.protocol import (
    BROADCAST_NAMES,
    BROADCAST_TTL_HOURS,
    DIRECT_TTL_HOURS,
    LEAST_PREFIX,
    TAG_NAMESPACES,
    USER_NAMES,
)
from mailstore.stores.haak.field_names import AGENT, SPELLS, STATUSES, pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

__all__ = ["FOREVER", "NO_STRING", "Reader", "end_of", "is_list_of_names"]

HOUR = 3600.0
FOREVER = float("inf")
NO_STRING = frozenset(map(chr, (*range(32), 127, *b'"\\/')))
"""Characters that JSON may write as an escape, or must."""


class Reader:
    """What decides which mail is an agent's: the agent itself, and what the roster knows of roles and names."""

    def __init__(self, session_id: str, entries: list[Record]) -> None:
        mine = [entry for entry in entries if pick(entry, AGENT["session_id"])[0] == session_id]
        if not mine or session_id in USER_NAMES:
            raise Unusual("not an agent of the roster")
        if any(_may_have_slept(entry) for entry in mine):
            raise Unusual("was not alive all the time")
        if any(_roles(entry) != _roles(mine[-1]) for entry in mine):
            raise Unusual("held other roles before")
        self.session_id = session_id
        self.name = _word(mine[-1], "name")
        self.tags = _tags(mine[-1])
        self.roles = frozenset(_roles(mine[-1]))
        started = pick(mine[-1], AGENT["started_at"])[0]
        self.started = parse_time(started)[0] if started is not None else None
        words = (session_id, self.name, *self.tags, *self.roles)
        if not all(each.isascii() and NO_STRING.isdisjoint(each) for each in words):
            raise Unusual("names that may be written in several ways")
        self.sessions = {str(pick(entry, AGENT["session_id"])[0]) for entry in entries}
        self.known_roles = {role for entry in entries for role in _roles(entry)}
        self.holders: dict[str, set[str]] = {role: {role} - self.sessions for role in self.roles}
        self._sleepy: set[str] = set()
        """The roles of which a holder was not alive all the time: their TTL may have stood still."""
        awake = {str(pick(entry, AGENT["session_id"])[0]): True for entry in entries}
        for entry in entries:
            awake[str(pick(entry, AGENT["session_id"])[0])] &= not _may_have_slept(entry)
        for entry in entries:
            for role in self.roles.intersection(_roles(entry)):
                session = str(pick(entry, AGENT["session_id"])[0])
                self.holders[role].add(session)
                if not awake[session]:
                    self._sleepy.add(role)

    def is_for(self, name: bytes) -> bool:
        """Say whether mail to an address, as it stands in a file, may be for the agent; better once too often."""
        text = name.decode("utf-8", "replace").strip()
        try:
            return "\\" in text or "," in text or self.expiry(text, FOREVER, None) is not None
        except Unusual:
            return True

    def is_named_in(self, line: bytes) -> bool:
        """Say whether a line that names nobody in the usual place may be for the agent."""
        names = (self.session_id[:LEAST_PREFIX], self.name, *self.tags, *self.roles, *BROADCAST_NAMES)
        return b"\\" in line or any(name.encode() in line for name in names if name)

    def expiry(self, text: str, time: float, ttl: float | None) -> float | None:
        """Return until when mail to an address is the agent's, in seconds since the epoch; None when it is not."""
        namespace, colon, rest = text.partition(":")
        if namespace == "agent" and text not in BROADCAST_NAMES:
            raise Unusual("an address that takes the whole roster")
        if text in BROADCAST_NAMES:
            return self._while_alive(time + HOUR * (BROADCAST_TTL_HOURS if ttl is None else ttl))
        if text in USER_NAMES or namespace == "person":
            return None
        if colon and rest and namespace in TAG_NAMESPACES:
            return self._while_alive(end_of(time, ttl)) if text in self.tags else None
        if text == self.session_id:
            return time + HOUR * (DIRECT_TTL_HOURS if ttl is None else ttl)
        if colon and rest and namespace == "role":
            return self._of_role(rest, end_of(time, ttl))
        if text in self.sessions:
            return None
        if text in self.known_roles:
            return self._of_role(text, end_of(time, ttl))
        if text == self.name or text.startswith(self.session_id[:LEAST_PREFIX]) or self.session_id in text:
            raise Unusual("an address that may be the agent's")
        return None

    def is_role(self, text: str) -> bool:
        """Say whether an address that reaches the agent is one of its roles."""
        return text != self.session_id and text.removeprefix("role:") in self.roles

    def _of_role(self, role: str, end: float) -> float | None:
        if role not in self.roles:
            return None
        if role in self._sleepy and end != FOREVER:
            raise Unusual("a role whose holders may have been frozen")
        return self._while_alive(end)

    def ttl(self, text: str) -> float | None:
        """Return the TTL in hours of mail to any address that has none of its own; None for what never expires."""
        if text in BROADCAST_NAMES:
            return BROADCAST_TTL_HOURS
        namespace, colon, rest = text.partition(":")
        is_lasting = text in USER_NAMES or (colon and rest and namespace in (*TAG_NAMESPACES, "person", "role"))
        if not is_lasting and text in self.sessions:
            return DIRECT_TTL_HOURS
        if not is_lasting and text not in self.known_roles:
            raise Unusual("an address that takes the whole roster")
        return None

    def _while_alive(self, end: float) -> float | None:
        return end if self.started is None or self.started <= end else None

    def may_be_mentioned(self, content: str) -> bool:
        """Say whether a text may mention the agent; better once too often."""
        names = tuple(
            name for name in (self.session_id[:LEAST_PREFIX], self.name, "agent:", "role:", *self.roles) if name
        )
        return any(part.startswith(names) for part in content.split("@")[1:])


def _may_have_slept(entry: Record) -> bool:
    return _status(entry) != "living" or bool(entry.get(SPELLS))


def _status(entry: Record) -> str:
    word = pick(entry, AGENT["status"])[0]
    return STATUSES.get(str(word).strip().lower(), "living")


def _word(entry: Record, field: str) -> str:
    value = pick(entry, AGENT[field])[0]
    if value is not None and not isinstance(value, str):
        raise Unusual("an odd agent")
    return value or ""


def _tags(entry: Record) -> frozenset[str]:
    tags = entry.get("tags") or []
    if not is_list_of_names(tags):
        raise Unusual("odd tags")
    return frozenset(tag.strip() for tag in tags)


def _roles(entry: Record) -> list[str]:
    role = _word(entry, "role")
    tagged = [tag[5:] for tag in sorted(_tags(entry)) if tag.startswith("role:") and tag != "role:"]
    return [role, *tagged] if role else tagged


def is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def end_of(time: float, ttl: float | None) -> float:
    return FOREVER if ttl is None else time + HOUR * ttl
