"""The names in a graph: one spelling for each identity, and the user."""

from __future__ import annotations

from typing import NamedTuple

EVERYBODY = "AGENT:*"


def identity(text: str) -> str:
    """Return the normal form of an identity, `@x`; `AGENT:*` and other addresses are unchanged."""
    if text == EVERYBODY:
        return text
    bare = text.removeprefix("AGENT:").lstrip("@")
    return text if not bare or ":" in bare else f"@{bare}"


def login(name: str) -> str:
    """Return an identity without the leading `@`."""
    return name.removeprefix("@")


def spellings(name: str) -> tuple[str, ...]:
    bare = login(name)
    return (name, bare, f"@@{bare}", f"AGENT:@{bare}", f"AGENT:{bare}")


class People(NamedTuple):
    """The identities of people; each of them is the user."""

    names: frozenset[str] = frozenset()

    @property
    def only(self) -> str:
        """Return the identity of the only person; empty if there is none, or several."""
        return next(iter(self.names)) if len(self.names) == 1 else ""

    def told(self) -> tuple[str, ...]:
        """Return all names of people in messages, including mentions, sorted."""
        return tuple(sorted(each for name in self.names for each in (name, login(name))))


def address(text: str) -> str:
    """Return a sender's or recipient's address in the mailbox."""
    name = identity(text)
    return "all" if name == EVERYBODY else name


def is_human(name: str) -> bool:
    """Return whether an address is a user's without an identity in the graph."""
    kind, colon, rest = name.partition(":")
    return bool(colon and rest) and kind == "human"
