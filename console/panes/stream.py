"""All messages of a view or of a search as one stream, the newest at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice

from console.panes.stream_place import StreamPlace, stream_place
from mailstore.columns.lists import MarkedRows, MessageList
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadNode, View

FIRST_SECONDS = 0.003
"""How long messages are looked up before the first of them are shown: enough for thousands."""
SLICE_SECONDS = 0.004
SAMPLED = 16
MOST_OWN = 64
"""The user's own messages that are passed over to find the first new one."""


Found = Callable[[], MarkedRows | None]
"""Returns what a search found by now, None in views that have no search."""


class ShownStream:
    """A stream as it is shown: a source for the block view; `first_new` is the message below the divider."""

    def __init__(self, view: View, keys: MessageList, first_new: str | None, messages: int) -> None:
        self.view = view
        self.keys = keys
        self.first_new = first_new
        self._messages = messages

    def guess(self, width: int) -> int:
        """Return an estimate of a message's lines before it is read."""
        return 4 + self._messages // max(20, width)

    def place(self, key: str) -> int | None:
        """Return a message's index."""
        return self.keys.place(key)

    def indent(self, index: int) -> int:
        """Return a message's indentation: none has any."""
        return 0

    def is_branch(self, index: int) -> bool:
        """Return whether a message is one of several replies: that is not shown."""
        return False

    def extends(self, other: object) -> bool:
        """Return whether these are the messages of another stream, and at most some more at the end."""
        return isinstance(other, ShownStream) and self.keys.extends(other.keys)

    def node(self, mailbox: Mailbox, at: int) -> ThreadNode:
        """Return a message with the one that it answers."""
        message = mailbox.message(self.keys[at])
        return ThreadNode(self.keys[at], message, 0, None if message is None else message.thread)

    def surroundings(self, mailbox: Mailbox, at: int, now: float) -> StreamPlace:
        """Return what a message shows because of the messages before it."""
        message = mailbox.message(self.keys[at])
        before = mailbox.message(self.keys[at - 1]) if at else None
        if message is None:
            return StreamPlace()
        is_known = at > 0 or self.keys.is_whole
        is_new = message.id == self.first_new
        return stream_place(mailbox, self.view, message, before, now, is_begin=is_known, is_new=is_new)


class Stream:
    """Follows the messages of a view, and knows which of them were new when the user came."""

    def __init__(
        self, mailbox: Mailbox, view: View, found: Found = lambda: None, *, first_new: str | None = None
    ) -> None:
        self.view = view
        self._mailbox = mailbox
        self._found = found
        self._rows = found()
        self._marks = mailbox.seen_image()
        self._unmarked = 0
        """How many of the newest messages are known to have no mark."""
        self._is_searched = first_new is not None
        self._first_new = first_new
        self._coming: MessageList | None = None
        """A list that replaces the one shown once it is whole."""
        mail = mailbox.view_messages(view, found=self._rows).look(FIRST_SECONDS)
        self._messages = _messages(mailbox, mail)
        self.shown = ShownStream(view, mail, None, self._messages)
        self._show(mail)

    @property
    def is_whole(self) -> bool:
        """Whether all messages are known."""
        return self.shown.keys.is_whole and self._coming is None

    def is_of(self, mailbox: Mailbox) -> bool:
        """Return whether this is a stream of a mailbox, which may have been reloaded."""
        return self._mailbox is mailbox and self.shown.keys.messages is mailbox.contents.messages

    def next_unseen(self, place: int, step: int) -> str | None:
        """Return the next unseen message after a place, or before it, round and round; None if all are seen."""
        mail, mailbox = self.shown.keys, self._mailbox
        if not mailbox.counts().unseen + mailbox.counts().quiet:
            return None
        marks, begin = mailbox.seen_image(), 0 if step > 0 else len(mail) - 1
        for at in chain(mail.marked(marks, place + step, step, 0), mail.marked(marks, begin, step, 0)):
            message = mailbox.message(mail[at])
            if message is not None and mailbox.is_unseen(message):
                return message.id
        return None

    def refresh(self) -> bool:
        """Take what arrived; return whether anything changed."""
        old = self.shown.keys
        mail = self._followed(old)
        if mail is old:
            return False
        if not mail.has_begun:
            mail = mail.look(FIRST_SECONDS)
            if not mail.is_whole:
                self._coming = mail
                return False
        self._coming = None
        self._show(mail)
        return True

    def look_on(self) -> bool:
        """Look for older messages for a few milliseconds; return whether anything changed."""
        if self._coming is None:
            self._show(self.shown.keys.look(SLICE_SECONDS))
            return True
        self._coming = self._followed(self._coming).look(SLICE_SECONDS)
        if not self._coming.is_whole:
            return False
        mail, self._coming = self._coming, None
        self._show(mail)
        return True

    def _followed(self, mail: MessageList) -> MessageList:
        """Return a list with what arrived, another one once other messages were found."""
        rows = self._found()
        known = mail if rows is self._rows else None
        self._rows = rows
        return self._mailbox.view_messages(self.view, known, rows)

    def _show(self, mail: MessageList) -> None:
        if not self._is_searched:
            self._find_first_new(mail)
        self.shown = ShownStream(self.view, mail, self._first_new, self._messages)

    def _find_first_new(self, mail: MessageList) -> None:
        """Find the first message that was new after the newest one that was seen."""
        seen = next(mail.marked(self._marks, len(mail) - 1 - self._unmarked, -1), None)
        self._unmarked = len(mail)
        self._is_searched = seen is not None or mail.is_whole
        if seen is None:
            return
        later = map(mail.__getitem__, range(seen + 1, len(mail)))
        for key in islice(later, MOST_OWN):
            message = self._mailbox.message(key)
            if message is not None and self._mailbox.is_unseen(message):
                self._first_new = key
                return


def _messages(mailbox: Mailbox, mail: MessageList) -> int:
    """Return the median length of the newest records, in bytes."""
    lengths = [
        message.location.length for key in mail[-SAMPLED:] if (message := mailbox.message(key)) and message.location
    ]
    return sorted(lengths)[(len(lengths) - 1) // 2] if lengths else 0
