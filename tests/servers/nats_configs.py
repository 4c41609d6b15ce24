"""Blocks of the configuration of nats-server, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from mailstore.kinds.nats.demo import one_node

__all__ = ["Permissions", "one_node", "users_block"]

Permissions = Mapping[str, Sequence[str]]
"""The subjects that a user may `publish` to and `subscribe` to; left out: all."""


def users_block(users: Mapping[str, tuple[str, Permissions]]) -> str:
    """Return the block of users, each with a password and what it may do."""
    entries = []
    for name, (password, allowed) in users.items():
        rights = ", ".join(f"{verb} = {{ allow = {json.dumps(list(subjects))} }}" for verb, subjects in allowed.items())
        permissions = f", permissions = {{ {rights} }}" if rights else ""
        entries.append(f"  {{ user = {json.dumps(name)}, password = {json.dumps(password)}{permissions} }}")
    return "authorization { users = [\n" + "\n".join(entries) + "\n] }"
