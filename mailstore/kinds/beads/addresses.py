"""The addresses of Gas Town, in the one form that its mail uses (docs/formats/beads.md#addresses)."""

from __future__ import annotations

from collections.abc import Mapping

OVERSEER = "overseer"
"""The user's address."""
TOWN = ("mayor", "deacon")
NAMED = ("crew", "polecat", "polecats")
"""Roles whose holders have names; the role is left out of the address."""
SINGLE = ("witness", "refinery")
"""Roles that one agent of a rig holds."""
DOGS = "deacon/dogs/"
SHARED = {"queue": "role:queue:", "channel": "project:", "announce": "domain:"}
"""Addresses that are no agent's, and what they are to us."""
NONE = ("", "null")


def normal(address: str) -> str:
    """Return an address as Gas Town compares it: `mayor/`, `RIG/NAME`, `RIG/witness`, `overseer`."""
    bare = address.strip().removesuffix("/")
    parts = bare.split("/")
    if bare in TOWN or (len(parts) == 2 and parts[1] in TOWN):
        return f"{parts[-1]}/"
    if len(parts) == 3 and parts[1] in NAMED:
        return f"{parts[0]}/{parts[2]}"
    return bare


def recipient_of(address: str) -> str:
    """Return an assignee as a recipient: an agent, the user, a queue's role or a channel's tag."""
    kind, colon, name = address.partition(":")
    return f"{SHARED[kind]}{name}" if colon and name and kind in SHARED else normal(address)


def is_address(text: str) -> bool:
    """Say whether a name can only be an agent's address."""
    return "/" in text and ":" not in text and not text.startswith("@")


def address_of_agent(bead: str, facts: Mapping[str, str]) -> str:
    """Return the address of the agent that a bead describes, by its id and the facts in its text; empty if it has none.

    The id is `PREFIX-RIG-ROLE-NAME`, with parts missing where the role has none; the rig may contain hyphens.
    """
    place, role, rig = (_fact(facts, name) for name in ("location", "role_type", "rig"))
    if place:
        return normal(place)
    _, _, rest = bead.partition("-")
    if rest in TOWN:
        return f"{rest}/"
    if rest.startswith("dog-"):
        return DOGS + rest.removeprefix("dog-")
    parts = rest.split("-")
    for at in range(len(parts) - 1, 0, -1):
        before, after = "-".join(parts[:at]), "-".join(parts[at + 1 :])
        if parts[at] in SINGLE and not after:
            return f"{before}/{parts[at]}"
        if parts[at] in NAMED and after:
            return f"{rig or before}/{after}"
    if rig and role:
        return f"{rig}/{role}"
    return normal(role) if role in TOWN else ""


def _fact(facts: Mapping[str, str], name: str) -> str:
    value = facts.get(name, "")
    return "" if value in NONE else value
