"""The right column: a thread, or all messages of a channel, an agent or a role as one stream."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from textual.strip import Strip
from textual.timer import Timer

from console.panes.blocks import MessageBlock, block_of
from console.panes.conversation import Conversation
from console.panes.placeholders import empty_list
from console.panes.stream import ShownStream, Stream
from console.session import Session
from console.widgets.rows import placeholder_lines
from console.words.styles import TextStyles
from mailstore.records.message import Message
from mailstore.state.views import View

PAUSE_SECONDS = 0.004
"""How long keys are waited for between two looks for older messages of a stream."""


class ReadingPane(Conversation):
    """A conversation that also shows streams; a thread that was opened from a stream leads back to it."""

    def __init__(self, session: Session, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(session, styles, id=id)
        self._stream: Stream | None = None
        self._is_early = False
        """Whether the stream was begun before all mail was read."""
        self._left: tuple[tuple[str, int] | None, str | None] | None = None
        """Where the stream was left for a thread: the block and line at its top, and its cursor."""
        self._looking: Timer | None = None

    @property
    def is_stream(self) -> bool:
        """Whether a stream is shown, rather than a thread or nothing."""
        return isinstance(self.source, ShownStream)

    @property
    def is_above_stream(self) -> bool:
        """Whether a thread is shown that was opened from a stream."""
        return self._stream is not None and self.root is not None

    @property
    def is_whole(self) -> bool:
        """Whether all messages of the stream are known."""
        return self._stream is None or self._stream.is_whole

    @property
    def messages(self) -> Iterator[Message]:
        """The thread's messages in the order shown, without missing ones; in a stream, of the thread at the cursor."""
        if not self.is_stream:
            return super().messages
        mailbox, message = self._session.mailbox, self.message
        return iter(()) if message is None else iter(mailbox.thread_messages(mailbox.root_of(message.id)))

    @property
    def messages_below(self) -> Iterator[Message]:
        """The messages below the cursor."""
        if not self.is_stream:
            return super().messages_below
        at, keys = self.place_of(self.cursor_key), self.source.keys
        found = map(self._session.mailbox.message, map(keys.__getitem__, range(0 if at is None else at + 1, len(keys))))
        return (message for message in found if message is not None)

    # Showing

    def show(self, root: str | None, *, at: str | None = None) -> None:
        """Show a thread from its beginning, or with the cursor at the message `at`; None shows nothing."""
        if root is None:
            self._end_stream()
        elif self.is_stream:
            self._leave()
        self.stays_at_end = False
        super().show(root, at=at)

    def set_aside(self) -> None:
        """Show nothing for a while; `show_stream` goes back to where the stream was left."""
        if self.is_stream:
            self._leave()
            super().show(None)

    def _leave(self) -> None:
        self._left = self.top_place(), self.cursor_key

    def show_stream(self, view: View, *, at: str | None = None) -> None:
        """Show the messages of a view as a stream: where it was left, at a message, at what is new, or at its end."""
        if self.is_stream and self._stream is not None and self._stream.view == view:
            return
        left, self._left = self._left, None
        is_back = self._stream is not None and self._stream.view == view
        if self._stream is None or not is_back:
            self._stream, self._is_early = Stream(self._session.mailbox, view), self._session.is_loading
        self.root, self.is_following, self.stays_at_end = None, False, True
        self._blocks.clear()
        self._whole_blocks.clear()
        self.set_source(self._stream.shown)
        if is_back and left is not None:
            self.restore_place(*left)
        elif at is None or at == self.newest() or not self.scroll_to_key(at):
            self._show_first_new()
        self._look_on_soon()

    def _show_first_new(self) -> None:
        """Show the divider above what is new, or the end."""
        assert self._stream is not None
        first_new = self._stream.shown.first_new
        if first_new is None or not self.scroll_to_key(first_new, is_top=True):
            self.show_newest()

    def _end_stream(self) -> None:
        self._stream = self._left = None
        if self._looking is not None:
            self._looking.stop()
            self._looking = None

    def back_to_stream(self) -> None:
        """Show the stream again from which a thread was opened."""
        if self._stream is not None:
            self.show_stream(self._stream.view)

    def move_to(self, message_id: str) -> bool:
        """Move to a message of the stream that is shown; return whether it has it."""
        if not self.is_stream:
            return False
        if self.place_of(message_id) is None:
            self._refresh_stream()
        if message_id == self.newest():
            self.show_newest()
            return True
        return self.scroll_to_key(message_id)

    def seek(self, message_id: str) -> None:
        """Show the first place in a message of what is sought."""
        self.hits.seek(message_id)

    def next_unseen(self, step: int) -> str | None:
        """Return the next unseen message of the stream after the cursor, or the one before it; None if all are seen."""
        at = self.place_of(self.cursor_key)
        return None if self._stream is None else self._stream.next_unseen(-1 if at is None else at, step)

    # Looking for messages

    def _look_on_soon(self) -> None:
        """Look for older messages in idle moments, until all are known."""
        if self._looking is None and not self.is_whole:
            self._looking = self.set_timer(PAUSE_SECONDS, self._look_on)

    def _look_on(self) -> None:
        self._looking = None
        if self._stream is None:
            return
        had_new = self._stream.shown.first_new
        if self._stream.look_on() and self.is_stream:
            self.source_changed(self._stream.shown)
            if self.is_whole or self._stream.shown.first_new != had_new:
                self.doubt_lines()
        self._look_on_soon()

    def refresh_mail(self) -> None:
        """Draw what changed in the thread or the stream, without scrolling."""
        if self.is_stream:
            self._refresh_stream()
            self.doubt_lines()
        super().refresh_mail()

    def _refresh_stream(self) -> None:
        """Take what arrived into the stream; start over if the mailbox was loaded or replaced meanwhile."""
        stream, session = self._stream, self._session
        assert stream is not None
        is_loaded = self._is_early and not session.is_loading
        if is_loaded or not stream.is_of(session.mailbox):
            was_at_end = self.is_at_end
            first_new = None if self._is_early else stream.shown.first_new
            self._stream = Stream(session.mailbox, stream.view, first_new=first_new)
            self._is_early = session.is_loading
            self.source_changed(self._stream.shown)
            if is_loaded and was_at_end:
                self._show_first_new()
        elif stream.refresh():
            self.source_changed(stream.shown)
        self._look_on_soon()

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the visible lines; in a stream without any, say so."""
        if self._stream is None or not self.is_stream or self.source.keys:
            return super().draw(width, height)
        words = empty_list(self._session, self._stream.view, is_filtered=False) if self.is_whole else ["Looking…"]
        return placeholder_lines(tuple(words), width, height, self.component_style("block-view--indent"))

    # The thread's own, which a stream does not have

    def newest(self) -> str | None:
        """Return the newest message of the thread, or of the stream."""
        if self.is_stream:
            return self.source.keys[-1] if self.source.keys else None
        return super().newest()

    def fold(self, is_folded: bool) -> bool:
        """Fold or unfold the replies to the message at the cursor; return whether anything changed."""
        return not self.is_stream and super().fold(is_folded)

    def parent_key(self) -> str | None:
        """Return the message that the one at the cursor replies to."""
        if not self.is_stream:
            return super().parent_key()
        return None if self.message is None else self.message.thread

    def first_reply(self) -> str | None:
        """Return the first reply to the message at the cursor, if it is shown."""
        return None if self.is_stream else super().first_reply()

    def _block(self, at: int) -> MessageBlock:
        shown, session = self.source, self._session
        if not isinstance(shown, ShownStream):
            return super()._block(at)
        node = shown.node(session.mailbox, at)
        marked = node.message is not None and session.mailbox.is_intervention(node.id)
        block = block_of(session.mailbox, node, session.now(), is_intervention=marked, folded=0)
        surroundings = shown.surroundings(session.mailbox, at, session.now())
        return self._opened(replace(block, stream=surroundings))
