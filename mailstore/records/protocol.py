"""The words and numbers of the protocol (docs/semantics.md#addresses). Imports nothing: hooks load it."""

from __future__ import annotations

TAG_NAMESPACES = ("project", "concern", "domain")
BROADCAST_NAMES = frozenset({"all", "broadcast", "AGENT:*"})
USER_NAMES = frozenset({"user", "human"})
PERSON = "user"
"""The name under which the user's mail is kept, whichever name a record uses."""
BROADCAST_TTL_HOURS = 4.0
DIRECT_TTL_HOURS = 24.0
LEAST_PREFIX = 8
"""Minimum length of an abbreviated session id."""
