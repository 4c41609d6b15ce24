"""Reply forests: which messages hang together, in which order, and what is wrong with them.

A forest grows by one message at a time, in any order, at a cost that does not depend on its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Cycle", "Forest", "Link"]


class Link(NamedTuple):
    """What adding a message did: the root it hangs from now, and roots that became part of it."""

    root: str
    absorbed: str | None


class Cycle(NamedTuple):
    """A ring of replies, cut at its oldest message."""

    members: tuple[str, ...]
    cut: str


class Forest:
    """Parents, children and roots by message id (semantics: threads).

    A parent that nobody has seen yet is a placeholder: it is the root until it arrives, and stays one
    if it never does. `age` orders messages (oldest first) and is asked only for siblings and rings.
    """

    def __init__(self, age: Callable[[str], tuple[float, str]]) -> None:
        self._age = age
        self._parent: dict[str, str] = {}
        self._children: dict[str, list[str]] = {}
        self._up: dict[str, str] = {}
        self._known: set[str] = set()
        self.cycles: list[Cycle] = []

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._known

    def root(self, message_id: str) -> str:
        """Return the root of the tree that a message stands in (itself, when it hangs from nothing)."""
        up = self._up
        top = message_id
        while (above := up.get(top)) is not None:
            top = above
        while (above := up.get(message_id)) is not None and above != top:
            up[message_id] = top
            message_id = above
        return top

    def add(self, message_id: str, parent: str | None) -> Link:
        """Hang a message under its parent; a second message of the same id changes nothing."""
        if message_id in self._known:
            return Link(self.root(message_id), None)
        self._known.add(message_id)
        if parent is None:
            return Link(message_id, None)
        above = self.root(parent)
        if above == message_id:
            return self._cut(message_id, parent)
        self._hang(message_id, parent)
        self._up[message_id] = above
        return Link(above, message_id)

    def _hang(self, message_id: str, parent: str) -> None:
        self._parent[message_id] = parent
        self._children.setdefault(parent, []).append(message_id)

    def _cut(self, closing: str, parent: str) -> Link:
        """Close a ring and cut it at its oldest message, which becomes the root of all of it."""
        ring = [closing]
        while parent != closing:
            ring.append(parent)
            parent = self._parent[parent]
        self._hang(closing, ring[1] if len(ring) > 1 else closing)
        oldest = min(ring, key=self._age)
        self._children[self._parent.pop(oldest)].remove(oldest)
        self.cycles.append(Cycle(tuple(ring), oldest))
        if oldest == closing:
            return Link(closing, None)
        self._up.pop(oldest, None)
        self._up[closing] = oldest
        for member in ring[1:]:
            if member != oldest:
                self._up[member] = oldest
        return Link(oldest, closing)

    def parent(self, message_id: str) -> str | None:
        """Return the message that this one answers, after rings were cut."""
        return self._parent.get(message_id)

    def children(self, message_id: str) -> list[str]:
        """Return the replies to a message, oldest first."""
        return sorted(self._children.get(message_id, ()), key=self._age)

    def walk(self, root: str) -> list[tuple[str, int]]:
        """Return a tree in reading order: each message's id and depth, replies below what they answer."""
        order: list[tuple[str, int]] = []
        stack = [(root, 0)]
        while stack:
            message_id, depth = stack.pop()
            order.append((message_id, depth))
            stack.extend((child, depth + 1) for child in reversed(self.children(message_id)))
        return order

    def placeholders(self) -> list[str]:
        """Return the parents that messages name and that are nowhere."""
        return [parent for parent in self._children if parent not in self._known]
