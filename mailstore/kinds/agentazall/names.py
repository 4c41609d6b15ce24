"""Convert addresses of AgentAZAll to names and back."""

from __future__ import annotations

from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

HUMAN = "human@localhost"
"""The address of the person at the console."""
USER = "user"
PREFIX = "agentazall:"
"""Prefix for addresses that would mean something else here: this system has no broadcasts, roles or channels."""
NOBODY = "nobody"
LOCAL = "localhost"
RELAYED = ".agenttalk"


def name_of(address: str) -> str:
    """Return the name for an address: `user` for the person's own."""
    if address == HUMAN:
        return USER
    if not address:
        return PREFIX + NOBODY
    if address in BROADCAST_NAMES or address in USER_NAMES or ":" in address or "/" in address:
        return PREFIX + address
    return address


def address_of(name: str) -> str:
    """Return the address for a name."""
    return HUMAN if name == USER else name.removeprefix(PREFIX)


def is_remote(name: str) -> bool:
    """Return whether a name's address is on another machine or relay."""
    _, at, domain = name.rpartition("@")
    return domain != LOCAL if at else name.endswith(RELAYED)


def plain_of(address: str) -> str:
    """Return an address without its route: a relay knows an agent as `name.agenttalk`."""
    return address.removesuffix(f"@{LOCAL}").removesuffix(RELAYED)
