"""The outline of a thread: its messages in the order shown, and the depth of each."""

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
    """A thread's messages as they are shown: a source for the block view."""

    keys: Sequence[str] = ()
    depths: Sequence[int] = ()
    is_flat: bool = False
    letters: int = 0
    """The typical length of a message's record, in bytes."""

    def guess(self, width: int) -> int:
        """Return an estimate of a message's lines before it is read."""
        return 4 + self.letters // max(20, width)

    def indent(self, index: int) -> int:
        """Return a message's indentation in cells."""
        return 0 if self.is_flat else INDENT * min(DEEPEST, self.depths[index])

    def below(self, at: int) -> int:
        """Return the number of direct and indirect replies."""
        depth, end = self.depths[at], at + 1
        while end < len(self.depths) and self.depths[end] > depth:
            end += 1
        return end - at - 1

    def folded(self, keys: Collection[str]) -> ShownOutline:
        """Return the outline without the replies to some messages."""
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
        """Return a message in its place; a message with a depth has its parent in the outline."""
        message, depth = mailbox.message(self.keys[at]), self.depths[at]
        return ThreadNode(self.keys[at], message, depth, message.thread if message is not None and depth else None)


def outline_of(mailbox: Mailbox, shape: Shape, *, is_flat: bool) -> ShownOutline:
    """Return a thread's outline in reply order, or in order of time."""
    keys, depths = shape.keys, shape.depths
    if is_flat:
        found = [(message.time, at) for at, key in enumerate(keys) if (message := mailbox.message(key)) is not None]
        order = [at for _, at in sorted(found)]
        keys, depths = [keys[at] for at in order], [depths[at] for at in order]
    return ShownOutline(keys, depths, is_flat, _letters(mailbox, keys[:SAMPLED]))


def _letters(mailbox: Mailbox, keys: Sequence[str]) -> int:
    """Return the median length of a thread's first messages, which later ones don't change."""
    found = [it.location.length for key in keys if (it := mailbox.message(key)) is not None and it.location is not None]
    return sorted(found)[(len(found) - 1) // 2] if found else 0
