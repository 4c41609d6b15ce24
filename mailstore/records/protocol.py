"""The protocol's own words and numbers (semantics: addresses). Imports nothing: a hook reads it at every start."""

from __future__ import annotations

__all__ = [
    "BROADCAST_NAMES",
    "BROADCAST_TTL_HOURS",
    "DIRECT_TTL_HOURS",
    "LEAST_PREFIX",
    "PERSON",
    "TAG_NAMESPACES",
    "USER_NAMES",
]

TAG_NAMESPACES = ("project", "concern", "domain")
BROADCAST_NAMES = frozenset({"all", "broadcast", "AGENT:*"})
USER_NAMES = frozenset({"user", "human"})
PERSON = "user"
"""Under which name the person's mail is kept, whichever a record uses."""
BROADCAST_TTL_HOURS = 4.0
DIRECT_TTL_HOURS = 24.0
LEAST_PREFIX = 8
"""Characters of a session id that stand for all of it (formats/haak.md 7)."""
