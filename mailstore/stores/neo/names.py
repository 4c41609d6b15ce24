"""Who is who in a graph: one spelling for each identity, and the person (formats/neo.md)."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EVERYBODY", "People", "identity", "login", "spellings"]

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
    """The identities of people. Where there is one person, that is the user; several are told apart."""

    names: frozenset[str] = frozenset()

    @property
    def only(self) -> str:
        """Return the identity of the one person there is; empty where there is none, or several."""
        return next(iter(self.names)) if len(self.names) == 1 else ""

    def address(self, text: str) -> str:
        """Return what a sender or a recipient is called here."""
        name = identity(text)
        if name == EVERYBODY:
            return "all"
        human, colon, who = name.partition(":")
        if name in self.names or (colon and human == "human"):
            return "user" if len(self.names) < 2 else f"person:{login(who if colon else name)}"
        return name

    def reader(self, text: str) -> str:
        """Return who an identity is as a reader: all people are the user."""
        found = self.address(text)
        return "user" if found.startswith("person:") else found
