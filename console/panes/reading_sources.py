"""What the reading pane shows: a thread, or all messages of a view as one stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from console.panes.blocks import ATTACHED, MessageBlock, block_of
from console.panes.stream import Found, ShownStream, Stream
from console.panes.titles import empty_list
from console.session import Session
from mailstore.columns.reply_forest import Outline as Shape
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadNode, View

INDENT = 2
DEEPEST = 8
SAMPLED = 16
MOST_GUESSED = 40
"""Lines: long texts are cut to a screenful."""
MISSING_FILE = "!attachment-missing:"
LOOK_SECONDS = 30


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


class ReadingSource(ABC):
    """Messages in the order shown; `root` is the thread's first message, None for a stream and for nothing."""

    root: str | None = None
    is_early = False
    """Whether it was begun before all mail was read."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    @abstractmethod
    def shown(self) -> ShownOutline | ShownStream:
        """The blocks as they are shown now."""

    @abstractmethod
    def refresh(self) -> bool:
        """Take what arrived; return whether other blocks are shown now."""

    def known(self, start: int) -> Iterator[Message]:
        """Yield the messages from a place on, without missing ones."""
        mailbox, keys = self._session.mailbox, self.shown.keys
        for at in range(start, len(keys)):
            if (message := mailbox.message(keys[at])) is not None:
                yield message

    def thread_of(self, message: Message | None) -> Iterator[Message]:
        """Yield the messages of the thread that one at the cursor is in."""
        return self.known(0)

    def newest(self) -> str | None:
        """Return the newest message."""
        keys = self.shown.keys
        return keys[-1] if keys else None

    def node(self, at: int) -> ThreadNode:
        """Return a message with the one that it answers."""
        return self.shown.node(self._session.mailbox, at)

    def block(self, at: int) -> MessageBlock:
        """Return what is shown of a message."""
        session, node = self._session, self.node(at)
        marked = node.message is not None and session.mailbox.is_intervention(node.id)
        folded = self.hidden_below(node.id)
        block = block_of(session.mailbox, node, session.now(), is_intervention=marked, folded=folded)
        return _with_extras(block, session)

    def hidden_below(self, key: str) -> int:
        """Return how many replies to a message are folded."""
        return 0

    def first_reply(self, at: int) -> str | None:
        """Return the first reply to a message, if it is shown."""
        return None

    def fold(self, key: str, is_folded: bool) -> bool:
        """Fold or unfold the replies to a message; return whether anything changed."""
        return False

    def unfold(self) -> bool:
        """Unfold all replies; return whether any were folded."""
        return False

    def set_flat(self, is_flat: bool) -> bool:
        """Sort by time, or show reply trees; return whether anything changed."""
        return False

    def placeholder(self) -> list[str]:
        """Return what is said where there are no messages; nothing to show nothing."""
        return []


class ThreadSource(ReadingSource):
    """A thread as a tree of replies, or sorted by time; without a root, nothing."""

    def __init__(self, session: Session, root: str | None = None, *, is_flat: bool = False) -> None:
        super().__init__(session)
        self.root = root
        self._is_flat = is_flat
        self._folded: set[str] = set()
        self._shape: Shape | None = None
        self._all = self._shown = ShownOutline()
        self._read()

    @property
    def shown(self) -> ShownOutline:
        return self._shown

    def _read(self) -> bool:
        """Read the thread's outline again; return whether it changed."""
        mailbox, old = self._session.mailbox, self._shape
        self._shape = None if self.root is None else mailbox.outline(self.root, old)
        if self._shape is old and self._all.is_flat == self._is_flat:
            return False
        self._all = ShownOutline() if self._shape is None else outline_of(mailbox, self._shape, is_flat=self._is_flat)
        self._shown = self._all if self._is_flat else self._all.folded(self._folded)
        return True

    def refresh(self) -> bool:
        if self.root is None:
            return False
        mailbox = self._session.mailbox
        if self.root in mailbox:
            self.root = mailbox.root_of(self.root)
        elif (message := next(self.known(0), None)) is not None:
            self.root = mailbox.root_of(message.id)
        return self._read()

    def newest(self) -> str | None:
        mailbox = self._session.mailbox
        if self._is_flat or self.root is None or self.root not in mailbox:
            return super().newest()
        key = mailbox.summary(self.root).latest.id
        return key if self._shown.place(key) is not None else super().newest()

    def hidden_below(self, key: str) -> int:
        return self._all.below(key) if key in self._folded and not self._is_flat else 0

    def first_reply(self, at: int) -> str | None:
        return self._shown.first_reply(at)

    def fold(self, key: str, is_folded: bool) -> bool:
        if self._is_flat or (key in self._folded) == is_folded or (is_folded and not self._all.below(key)):
            return False
        (self._folded.add if is_folded else self._folded.discard)(key)
        self._shown = self._all.folded(self._folded)
        return True

    def unfold(self) -> bool:
        had = bool(self._folded)
        self._folded.clear()
        self._shown = self._all
        return had

    def set_flat(self, is_flat: bool) -> bool:
        self._is_flat = is_flat
        return self._read() and self.root is not None


class StreamSource(ReadingSource):
    """All messages of a view or of a search in order of time, the newest at the bottom."""

    def __init__(self, session: Session, view: View, found: Found) -> None:
        super().__init__(session)
        self.view = view
        self.is_early = session.is_loading
        self._found = found
        self._stream = Stream(session.mailbox, view, found)

    @property
    def shown(self) -> ShownStream:
        return self._stream.shown

    @property
    def is_whole(self) -> bool:
        """Whether all messages are known."""
        return self._stream.is_whole

    def refresh(self) -> bool:
        """Take what arrived; start over if the mailbox was loaded or replaced meanwhile."""
        session, stream = self._session, self._stream
        if (self.is_early and not session.is_loading) or not stream.is_of(session.mailbox):
            first_new = None if self.is_early else stream.shown.first_new
            self._stream = Stream(session.mailbox, self.view, self._found, first_new=first_new)
            self.is_early = session.is_loading
            return True
        return stream.refresh()

    def look_on(self) -> bool:
        """Look for older messages for a few milliseconds; return whether anything changed."""
        return self._stream.look_on()

    def next_unseen(self, place: int, step: int) -> str | None:
        """Return the next unseen message after a place, or before it, round and round; None if all are seen."""
        return self._stream.next_unseen(place, step)

    def thread_of(self, message: Message | None) -> Iterator[Message]:
        mailbox = self._session.mailbox
        return iter(()) if message is None else iter(mailbox.thread_messages(mailbox.root_of(message.id)))

    def block(self, at: int) -> MessageBlock:
        session = self._session
        return replace(super().block(at), stream=self.shown.surroundings(session.mailbox, at, session.now()))

    def placeholder(self) -> list[str]:
        return empty_list(self._session, self.view, is_filtered=False) if self.is_whole else ["Looking…"]


def _with_extras(block: MessageBlock, session: Session) -> MessageBlock:
    """Return a message's block with the places of its files, if any are attached, and whether it waits to be sent.

    Where a file or the text is missing, which may still come, the lines are rendered again from time to time.
    """
    message = block.node.message
    if message is None:
        return block
    if message.id in session.unreadable_texts or any(tag.startswith(MISSING_FILE) for tag in message.tags):
        block = replace(block, looked=int(session.clock() // LOOK_SECONDS))
    if session.delayed is not None and session.store.is_waiting(session.mailbox.places(message.id)):
        block = replace(block, is_waiting=True, way=session.delayed.get(message.id))
    if any(tag.removeprefix("!").startswith(ATTACHED) for tag in message.tags):
        block = replace(block, files=session.mailbox.places(message.id))
    return block
