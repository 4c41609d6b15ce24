"""The shape of a thread: its messages in reading order by id, and how deep each answer stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from mailstore.state.mailbox import Mailbox
from mailstore.state.outline import Outline as Shape
from mailstore.state.views import ThreadNode

__all__ = ["ShownOutline", "outline_of"]

INDENT = 2
DEEPEST = 8
SAMPLED = 16


class ShownOutline(Struct, frozen=True):
    """Messages of a thread as they are shown: a source for the block view."""

    keys: Sequence[str] = ()
    depths: Sequence[int] = ()
    is_flat: bool = False
    letters: int = 0
    """The length that a record of them has, in bytes."""

    def guess(self, width: int) -> int:
        """Guess how many lines a message takes before it is read."""
        return 4 + self.letters // max(20, width)

    def indent(self, index: int) -> int:
        """Return how many cells a message stands to the right."""
        return 0 if self.is_flat else INDENT * min(DEEPEST, self.depths[index])

    def below(self, at: int) -> int:
        """Return how many messages answer one, or an answer to it."""
        depth, end = self.depths[at], at + 1
        while end < len(self.depths) and self.depths[end] > depth:
            end += 1
        return end - at - 1

    def folded(self, keys: Collection[str]) -> ShownOutline:
        """Return the outline without what is below some messages."""
        if not keys:
            return self
        shown: list[int] = []
        hidden_below: int | None = None
        for at, depth in enumerate(self.depths):
            if hidden_below is None or depth <= hidden_below:
                hidden_below = depth if self.keys[at] in keys else None
                shown.append(at)
        return ShownOutline([self.keys[at] for at in shown], [self.depths[at] for at in shown], letters=self.letters)

    def node(self, mailbox: Mailbox, at: int) -> ThreadNode:
        """Return a message in its place; what it answers is here too, or it would stand at the left."""
        message, depth = mailbox.message(self.keys[at]), self.depths[at]
        return ThreadNode(self.keys[at], message, depth, message.thread if message is not None and depth else None)


def outline_of(mailbox: Mailbox, shape: Shape, *, is_flat: bool) -> ShownOutline:
    """Return a thread's outline in the order of its answers, or in that of time."""
    keys, depths = shape.keys, shape.depths
    if is_flat:
        found = [(message.time, at) for at, key in enumerate(keys) if (message := mailbox.message(key)) is not None]
        order = [at for _, at in sorted(found)]
        keys, depths = [keys[at] for at in order], [depths[at] for at in order]
    return ShownOutline(keys, depths, is_flat, _letters(mailbox, keys[:SAMPLED]))


def _letters(mailbox: Mailbox, keys: Sequence[str]) -> int:
    """Return what is usual for the first messages of a thread: those that come later don't change it."""
    found = [it.location.length for key in keys if (it := mailbox.message(key)) is not None and it.location is not None]
    return sorted(found)[(len(found) - 1) // 2] if found else 0
