"""Convert addresses of AgentAZAll to names and back, and read those in headers."""

from __future__ import annotations

from email.utils import getaddresses

from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES

HUMAN = "human@localhost"
"""The address of the user at the console."""
USER = "user"
PREFIX = "agentazall:"
"""Prefix for addresses that would mean something else here: this system has no broadcasts, roles or channels."""
NOBODY = "nobody"
LOCAL = "localhost"
RELAYED = ".agenttalk"


def name_of(address: str) -> str:
    """Return the name for an address: `user` for the user's own."""
    if address == HUMAN:
        return USER
    if not address:
        return PREFIX + NOBODY
    if address in BROADCAST_NAMES or address in USER_NAMES or ":" in address or "/" in address:
        return PREFIX + address
    return address


def address_of(name: str) -> str:
    return HUMAN if name == USER else name.removeprefix(PREFIX)


def is_remote(name: str) -> bool:
    """Return whether a name's address is on another machine or relay."""
    _, at, domain = name.rpartition("@")
    return domain != LOCAL if at else name.endswith(RELAYED)


def plain_of(address: str) -> str:
    """Return an address without its route: a relay knows an agent as `name.agenttalk`."""
    return address.removesuffix(f"@{LOCAL}").removesuffix(RELAYED)


def bare(text: str) -> str:
    """Return the address within `Name <address>`, or the text itself."""
    text = text.strip()
    if text.endswith(">") and "<" in text:
        return text[text.rindex("<") + 1 : -1].strip() or text
    return text


def addresses(*fields: str) -> tuple[str, ...]:
    """Return the addresses in headers, in order, without duplicates."""
    parsed = (address for field in fields for address in _parsed(field))
    return tuple(dict.fromkeys(address for address in parsed if address))


def _parsed(field: str) -> list[str]:
    if "<" in field:
        # e-mail addresses may include display names with commas
        texts = [address for _, address in getaddresses([field]) if address]
        if texts:
            return texts
    return [bare(part) for part in field.split(",")]
