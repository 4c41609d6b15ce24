"""Who is who in a graph: one spelling for each identity, and the person (formats/neo.md)."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EVERYBODY", "People", "address", "identity", "is_human", "login", "spellings"]

EVERYBODY = "AGENT:*"


def identity(text: str) -> str:
    """Return an identity as the program spells it: `@x`; `AGENT:*` and addresses of another kind as they stand."""
    if text == EVERYBODY:
        return text
    bare = text.removeprefix("AGENT:").lstrip("@")
    return text if not bare or ":" in bare else f"@{bare}"


def login(name: str) -> str:
    """Return an identity without its sign."""
    return name.removeprefix("@")


def spellings(name: str) -> tuple[str, ...]:
    """Return all the ways in which an identity may be spelled."""
    bare = login(name)
    return (name, bare, f"@@{bare}", f"AGENT:@{bare}", f"AGENT:{bare}")


class People(NamedTuple):
    """The identities of people: each of them is the person."""

    names: frozenset[str] = frozenset()

    @property
    def only(self) -> str:
        """Return the identity of the one person there is; empty where there is none, or several."""
        return next(iter(self.names)) if len(self.names) == 1 else ""

    def told(self) -> tuple[str, ...]:
        """Return all names of people that stand in messages, mentions among them, sorted."""
        return tuple(sorted(each for name in self.names for each in (name, login(name))))


def address(text: str) -> str:
    """Return what a sender or a recipient is called here."""
    name = identity(text)
    return "all" if name == EVERYBODY else name


def is_human(name: str) -> bool:
    """Say whether an address is that of a person of whom the graph needs no identity."""
    kind, colon, rest = name.partition(":")
    return bool(colon and rest) and kind == "human"
