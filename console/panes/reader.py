"""The right column: a thread, or all messages of a place as one stream; texts are rendered when they become visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace
from textual import on, work
from textual.message import Message as Note
from textual.strip import Strip
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from console.commands.table import BY_ID
from console.panes.blocks import MessageBlock
from console.panes.hit_lines import HitLines
from console.panes.message_lines import MessageKeys, MessageLines
from console.panes.reading_sources import ReadingSource, StreamSource, ThreadSource
from console.panes.receipts import has_more_receipts
from console.panes.render_jobs import RenderJob, RenderQueue
from console.panes.stream import Found
from console.running.workers import tell_failure
from console.session import Session
from console.widgets.block_view import BlockView
from console.widgets.rows import placeholder_lines
from console.words.styles import TextStyles
from mailstore.records.message import Message
from mailstore.state.views import View

OVERLAP = 4
"""Lines that are shown again on the next page."""
PAUSE_SECONDS = 0.004
"""How long keys are waited for between two looks for older messages of a stream."""


class ReadingPane(BlockView):
    """Shows a source of messages; a thread that was opened from a stream leads back to it."""

    @dataclass
    class Rendered(Note):
        """Lines of a block were rendered: all of them if whole, else the first ones."""

        job: RenderJob
        lines: MessageLines
        is_whole: bool

    def __init__(self, session: Session, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._session = session
        self._text_styles = styles
        self._blocks: dict[str, MessageBlock] = {}
        self._whole_blocks: dict[str, MessageBlock] = {}
        """The blocks of which whole lines were set last: not those that are still rendered."""
        self._jobs = RenderQueue(self.awaits_lines)
        self._openness = Openness(session.keymap)
        self.is_flat = False
        self._reading: ReadingSource = ThreadSource(session)
        self._stream: StreamSource | None = None
        """The stream that is shown, or from which the thread was opened."""
        self._left: tuple[tuple[str, int] | None, str | None] | None = None
        """Where the stream was left for a thread: the block and line at its top, and its cursor."""
        self._looking: Timer | None = None
        self.hits = HitLines(self)

    @property
    def root(self) -> str | None:
        """The first message of the thread that is shown; None for a stream, or nothing."""
        return self._reading.root

    @property
    def is_stream(self) -> bool:
        """Whether a stream is shown, rather than a thread or nothing."""
        return self._reading is self._stream

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
        return self._reading.thread_of(self.message)

    @property
    def messages_below(self) -> Iterator[Message]:
        """The messages below the cursor."""
        at = self.place_of(self.cursor_key)
        return self._reading.known(0 if at is None else at + 1)

    @property
    def message(self) -> Message | None:
        """The message at the cursor."""
        return self._session.mailbox.message(self.cursor_key) if self.cursor_key is not None else None

    # Showing

    def show(self, root: str | None, *, at: str | None = None) -> None:
        """Show a thread from its beginning, or with the cursor at the message `at`; None shows nothing."""
        was_stream = self.is_stream
        if root is None:
            self._end_stream()
        elif was_stream:
            self._leave()
        self.stays_at_end = False
        if was_stream or root != self.root:
            self._begin(ThreadSource(self._session, root, is_flat=self.is_flat))
        if at is not None:
            if self.place_of(at) is None and self._reading.unfold():
                self.source_changed(self._reading.shown)
            self.scroll_to_key(at)
            self.hits.seek(at)

    def _begin(self, source: ReadingSource) -> None:
        self._reading, self.is_following = source, False
        self._blocks.clear()
        self._whole_blocks.clear()
        self.set_source(source.shown)

    def set_aside(self) -> None:
        """Show nothing for a while; `show_stream` goes back to where the stream was left."""
        if self.is_stream:
            self._leave()
            self._begin(ThreadSource(self._session))

    def _leave(self) -> None:
        self._left = self.top_place(), self.cursor_key

    def show_stream(self, view: View, found_messages: Found = lambda: None, *, at: str | None = None) -> None:
        """Show the messages of a view or of its search as a stream.

        It is shown where it was left, at a message, at what is new, or at its end.
        """
        is_known = self._stream is not None and self._stream.view == view
        if is_known and self.is_stream:
            return
        left, self._left = self._left, None
        stream = (
            self._stream if self._stream is not None and is_known else StreamSource(self._session, view, found_messages)
        )
        self._stream, self.stays_at_end = stream, True
        self._begin(stream)
        if is_known and left is not None:
            self.restore_place(*left)
        elif at is None or at == self.newest() or not self.scroll_to_key(at):
            self._show_first_new(stream)
        self._look_on_soon()

    def _show_first_new(self, stream: StreamSource) -> None:
        """Show the divider above what is new, or the end."""
        first_new = stream.shown.first_new
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
            self._take_news()
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

    # What changes

    def refresh_mail(self) -> None:
        """Draw what changed in the thread or the stream, without scrolling."""
        if self.root is not None or self.is_stream:
            self._take_news()
            self.doubt_lines()

    def _take_news(self) -> None:
        reading, was_early, was_at_end = self._reading, self._reading.is_early, self.is_at_end
        if reading.refresh():
            self.source_changed(reading.shown)
            if isinstance(reading, StreamSource) and was_early and not reading.is_early and was_at_end:
                self._show_first_new(reading)
        self._look_on_soon()

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

    def set_text_styles(self, styles: TextStyles) -> None:
        """Render everything again after the theme changed."""
        self._text_styles = styles
        self._blocks.clear()
        self._whole_blocks.clear()
        self.clear_lines()

    def set_flat(self, is_flat: bool) -> None:
        """Show threads sorted by time, or as reply trees."""
        if is_flat != self.is_flat:
            self.is_flat = is_flat
            if self._reading.set_flat(is_flat):
                self.source_changed(self._reading.shown)

    def fold(self, is_folded: bool) -> bool:
        """Fold or unfold the replies to the message at the cursor; return whether anything changed."""
        if self.cursor_key is None or not self._reading.fold(self.cursor_key, is_folded):
            return False
        self.source_changed(self._reading.shown)
        self.doubt_lines()
        return True

    # Places

    def newest(self) -> str | None:
        """Return the newest message of the thread, or of the stream."""
        return self._reading.newest()

    def is_at_newest(self) -> bool:
        """Return whether the cursor is at the newest message."""
        return self.cursor_key is not None and self.cursor_key == self.newest()

    def parent_key(self) -> str | None:
        """Return the message that the one at the cursor replies to."""
        at = self.place_of(self.cursor_key)
        return None if at is None else self._reading.node(at).parent

    def first_reply(self) -> str | None:
        """Return the first reply to the message at the cursor, if it is shown."""
        at = self.place_of(self.cursor_key)
        return None if at is None else self._reading.first_reply(at)

    # Texts

    def toggle_text(self) -> bool:
        """Open the long text of the message at the cursor, or cut it again; return whether it is a long one."""
        if self.cursor_key is None or not self._openness.toggle_text(self.cursor_key, self._lines_at_cursor()):
            return False
        self._show_anew(self.cursor_key)
        return True

    def toggle_whole(self) -> bool:
        """Open receipts and text of the message at the cursor, or fold both; return whether there is anything to."""
        key = self.cursor_key
        block = self._blocks.get(key) if key is not None else None
        if key is None or block is None or not self._openness.toggle_whole(block, self._lines_at_cursor()):
            return False
        self._show_anew(key)
        return True

    def line_clicked(self, key: str, line: int) -> None:
        """Open a cut text whose last line was clicked."""
        lines = self.lines_of(key)
        if isinstance(lines, MessageLines) and lines.hidden and line == lines.hidden.start:
            self.toggle_text()

    def read_hidden(self) -> bool:
        """Open the cut text of the message at the cursor, a page further; return whether there is one."""
        lines = self._lines_at_cursor()
        if self.cursor_key is None or lines is None or not lines.hidden:
            return False
        return self.reveal(self.cursor_key, lines.hidden.start + self.scrollable_content_region.height - OVERLAP)

    def reveal(self, key: str, line: int | None = None) -> bool:
        """Go to a message and show its text whole, or make one of its lines visible; return whether it is there."""
        lines = self.lines_of(key)
        if line is None or (isinstance(lines, MessageLines) and lines.hidden and line >= lines.hidden.start):
            self._openness.open_text(key)
            self.doubt_lines(key)
        return self.scroll_to_key(key, line or 0)

    def _lines_at_cursor(self) -> MessageLines | None:
        lines = self.lines_of(self.cursor_key) if self.cursor_key is not None else None
        return lines if isinstance(lines, MessageLines) else None

    def _show_anew(self, key: str) -> None:
        self.doubt_lines(key)
        self.scroll_to_key(key)

    # Rendering

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the visible lines; in a stream without any, say so."""
        words = () if self.source.keys else tuple(self._reading.placeholder())
        if not words:
            return super().draw(width, height)
        return placeholder_lines(words, width, height, self.component_style("block-view--indent"))

    def _block(self, at: int) -> MessageBlock:
        """Return a block as far as you opened it."""
        return self._openness.applied(self._reading.block(at), self.scrollable_content_region.height)

    @on(BlockView.LinesWanted)
    def _lines_wanted(self, event: BlockView.LinesWanted) -> None:
        """Render the blocks that are not rendered yet or outdated."""
        event.stop()
        jobs = []
        for key in event.keys:
            if (at := self.place_of(key)) is None:
                continue
            block, lines, drawn = self._block(at), self.lines_of(key), self._whole_blocks.get(key)
            if lines is not None and block == drawn == self._blocks.get(key):
                self.confirm_lines(key)
                continue
            self._blocks[key] = block
            job = RenderJob(block, self.text_width(key), self._text_styles, keys=self._openness.keys)
            if isinstance(lines, MessageLines) and drawn is not None and drawn.has_text_of(block):
                job.text = lines.text
            jobs.append(job)
        if self._jobs.add(jobs):
            self._work_on_jobs()

    @work(thread=True, group="blocks", exit_on_error=False)
    def _work_on_jobs(self) -> None:
        worker = get_current_worker()
        for job, lines, is_whole in self._jobs.work(self._session):
            if worker.is_cancelled:
                return
            self.post_message(self.Rendered(job, lines, is_whole))

    @on(Rendered)
    def _rendered(self, event: Rendered) -> None:
        event.stop()
        block = event.job.block
        if event.job.styles is self._text_styles and self._blocks.get(block.key) == block:
            self.set_lines(block.key, event.job.width, event.lines, is_whole=event.is_whole)
            if event.is_whole:
                self._whole_blocks[block.key] = block
                self.hits.rendered(block.key)
                if (at := self.place_of(block.key)) is not None and self._block(at) != block:
                    self.doubt_lines(block.key)  # it changed while it was rendered

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report a worker that failed."""
        tell_failure(self.app, event)


class Openness:
    """The messages whose long text or receipts were opened, by key."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        labels = (BY_ID[command].key_label(keymap) for command in ("open.text", "record", "files"))
        self.keys = MessageKeys(*labels)
        self._texts: set[str] = set()
        self._receipts: set[str] = set()

    def applied(self, block: MessageBlock, screenful: int) -> MessageBlock:
        """Return a block as it is to be shown in a pane of so many lines."""
        most = 0 if block.key in self._texts else screenful
        return replace(block, most_lines=most, is_unfolded=block.key in self._receipts)

    def open_text(self, key: str) -> None:
        """Show a message's text whole."""
        self._texts.add(key)

    def toggle_text(self, key: str, lines: MessageLines | None) -> bool:
        """Open a long text or cut it again; return False for one that is shown whole anyway."""
        if key in self._texts:
            self._texts.discard(key)
            return True
        if lines is None or not lines.hidden:
            return False
        self._texts.add(key)
        return True

    def toggle_whole(self, block: MessageBlock, lines: MessageLines | None) -> bool:
        """Open a message's text and receipts, or fold both again; return False where there is nothing to open."""
        key = block.key
        if key in self._receipts or key in self._texts:
            self._receipts.discard(key)
            self._texts.discard(key)
            return True
        if has_more_receipts(block.standings):
            self._receipts.add(key)
        if lines is not None and lines.hidden:
            self._texts.add(key)
        return key in self._receipts or key in self._texts
