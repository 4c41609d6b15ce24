"""The addresses of AgentAZAll as names of ours, and back."""

from __future__ import annotations

from email.utils import getaddresses

from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

__all__ = ["HUMAN", "USER", "address_of", "addresses", "bare", "is_remote", "name_of", "plain_of"]

HUMAN = "human@localhost"
"""The address of the person at the console."""
USER = "user"
PREFIX = "agentazall:"
"""Stands before an address that would mean something else here: this system knows no broadcast, role or channel."""
NOBODY = "nobody"
LOCAL = "localhost"
RELAYED = ".agenttalk"


def bare(text: str) -> str:
    """Return the address within `Name <address>`, or the text itself."""
    text = text.strip()
    if text.endswith(">") and "<" in text:
        return text[text.rindex("<") + 1 : -1].strip() or text
    return text


def name_of(address: str) -> str:
    """Return what an address is called here: `user` for the person's own."""
    if address == HUMAN:
        return USER
    if not address:
        return PREFIX + NOBODY
    if address in BROADCAST_NAMES or address in USER_NAMES or ":" in address or "/" in address:
        return PREFIX + address
    return address


def address_of(name: str) -> str:
    """Return the address that a name of ours stands for."""
    return HUMAN if name == USER else name.removeprefix(PREFIX)


def addresses(*fields: str) -> tuple[str, ...]:
    """Return the addresses in headers, once each, in order."""
    found = (address for field in fields for address in _parsed(field))
    return tuple(dict.fromkeys(address for address in found if address))


def _parsed(field: str) -> list[str]:
    if "<" in field:
        # e-mail writes names, and these may hold commas
        found = [address for _, address in getaddresses([field]) if address]
        if found:
            return found
    return [bare(part) for part in field.split(",")]


def is_remote(name: str) -> bool:
    """Say whether a name is that of a mailbox on another machine or relay, going by its address."""
    _, at, domain = name.rpartition("@")
    return domain != LOCAL if at else name.endswith(RELAYED)


def plain_of(address: str) -> str:
    """Return an address without what tells by which way it is reached: a relay knows an agent as `name.agenttalk`."""
    return address.removesuffix(f"@{LOCAL}").removesuffix(RELAYED)
