"""The outline of a thread: its messages in the order shown, indented where the conversation forks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from mailstore.columns.reply_forest import Outline as Shape
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadNode

INDENT = 2
DEEPEST = 8
SAMPLED = 16
MOST_GUESSED = 40
"""Lines: long texts are cut to a screenful."""


class ShownOutline:
    """A thread's messages as they are shown: a source for the block view.

    A chain of single replies has one indentation; the replies to one message are indented where there are several.
    `messages` is the typical length of a message's record, in bytes.
    """

    def __init__(
        self, shape: Shape | None = None, places: Sequence[int] = (), *, is_flat: bool = False, messages: int = 0
    ) -> None:
        """Show the messages at some places of a thread's outline."""
        self._shape = shape
        self._places = places
        self.keys: Sequence[str] = [] if shape is None else [shape.keys[at] for at in places]
        self.is_flat = is_flat
        self._messages = messages
        self._levels: dict[int, int] = {}

    @cached_property
    def _index(self) -> dict[str, int]:
        return dict(zip(self.keys, range(len(self.keys)), strict=True))

    def guess(self, width: int) -> int:
        """Return an estimate of a message's lines before it is read."""
        return min(MOST_GUESSED, 4 + self._messages // max(20, width))

    def place(self, key: str) -> int | None:
        """Return a message's index."""
        return self._index.get(key)

    def extends(self, other: object) -> bool:
        """Return whether these are the messages of another outline, and some more: unknown."""
        return False

    def _row(self, at: int) -> int:
        assert self._shape is not None
        return self._shape.rows[self._places[at]]

    def _depth(self, at: int) -> int:
        assert self._shape is not None
        return self._shape.depths[self._places[at]]

    def indent(self, index: int) -> int:
        """Return a message's indentation in cells."""
        if self.is_flat or self._shape is None:
            return 0
        return INDENT * min(DEEPEST, self._shape.forest.forks_above(self._row(index), self._levels))

    def is_branch(self, index: int) -> bool:
        """Return whether a message is one of several replies to the same message."""
        return not self.is_flat and self._shape is not None and self._shape.forest.has_siblings(self._row(index))

    def below(self, key: str) -> int:
        """Return the number of direct and indirect replies to a message."""
        at = self._index[key]
        depth, end = self._depth(at), at + 1
        while end < len(self.keys) and self._depth(end) > depth:
            end += 1
        return end - at - 1

    def first_reply(self, at: int) -> str | None:
        """Return the first reply to a message, if it is shown below it."""
        is_reply = not self.is_flat and at + 1 < len(self.keys) and self._depth(at + 1) > self._depth(at)
        return self.keys[at + 1] if is_reply else None

    def folded(self, keys: Collection[str]) -> ShownOutline:
        """Return the outline without the replies to some messages."""
        if not keys:
            return self
        shown: list[int] = []
        hidden_below: int | None = None
        for at, key in enumerate(self.keys):
            depth = self._depth(at)
            if hidden_below is None or depth <= hidden_below:
                hidden_below = depth if key in keys else None
                shown.append(self._places[at])
        return ShownOutline(self._shape, shown, messages=self._messages)

    def node(self, mailbox: Mailbox, at: int) -> ThreadNode:
        """Return a message in its place; a message with a depth has its parent in the outline."""
        message, depth = mailbox.message(self.keys[at]), self._depth(at)
        return ThreadNode(self.keys[at], message, depth, message.thread if message is not None and depth else None)


def outline_of(mailbox: Mailbox, shape: Shape, *, is_flat: bool) -> ShownOutline:
    """Return a thread's outline in reply order, or in order of time."""
    keys, places = shape.keys, list(range(len(shape.keys)))
    if is_flat:
        timed = [(message.time, at) for at, key in enumerate(keys) if (message := mailbox.message(key)) is not None]
        places = [at for _, at in sorted(timed)]
    return ShownOutline(shape, places, is_flat=is_flat, messages=_messages(mailbox, keys[:SAMPLED]))


def _messages(mailbox: Mailbox, keys: Sequence[str]) -> int:
    """Return the median length of a thread's first messages, which later ones don't change."""
    lengths = [
        message.location.length
        for key in keys
        if (message := mailbox.message(key)) is not None and message.location is not None
    ]
    return sorted(lengths)[(len(lengths) - 1) // 2] if lengths else 0
