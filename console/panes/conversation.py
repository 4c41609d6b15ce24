"""The right column: one thread as a reply tree; texts are read and rendered when they become visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace
from textual import on, work
from textual.message import Message as Note
from textual.worker import Worker, get_current_worker

from console.commands.table import COMMANDS
from console.panes.blocks import ATTACHED, MessageBlock, block_of
from console.panes.hit_lines import HitLines
from console.panes.message_lines import MessageKeys, MessageLines
from console.panes.outline import ShownOutline, outline_of
from console.panes.receipts import has_more_receipts
from console.panes.render_jobs import RenderJob, RenderQueue
from console.running.failures import tell_failure
from console.session import Session
from console.widgets.block_view import BlockView
from console.words.styles import TextStyles
from mailstore.records.message import Message
from mailstore.state.outline import Outline as Shape

OVERLAP = 4
"""Lines that are shown again on the next page."""
MISSING_FILE = "!attachment-missing:"
LOOK_SECONDS = 30


class Conversation(BlockView):
    """One thread; commands act on the message at the cursor."""

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
        self.root: str | None = None
        self.is_flat = False
        self._folded: set[str] = set()
        self._openness = Openness(session.keymap)
        self._shape: Shape | None = None
        self._all = self._shown = ShownOutline()
        self.hits = HitLines(self)

    @property
    def messages(self) -> Iterator[Message]:
        """The thread's messages in the order shown, without missing ones."""
        return self._known(0)

    @property
    def messages_below(self) -> Iterator[Message]:
        """The messages below the cursor."""
        at = self.place_of(self.cursor_key)
        return self._known(0 if at is None else at + 1)

    def _known(self, start: int) -> Iterator[Message]:
        mailbox = self._session.mailbox
        for at in range(start, len(self._shown.keys)):
            if (message := mailbox.message(self._shown.keys[at])) is not None:
                yield message

    @property
    def message(self) -> Message | None:
        """The message at the cursor."""
        return self._session.mailbox.message(self.cursor_key) if self.cursor_key is not None else None

    def show(self, root: str | None, *, at: str | None = None) -> None:
        """Show a thread from its beginning, or with the cursor at the message `at`."""
        if root != self.root or self.source is not self._shown:
            self.root = root
            self.is_following = False
            self._folded.clear()
            self._blocks.clear()
            self._whole_blocks.clear()
            self._read_outline()
            self.set_source(self._shown)
        if at is not None:
            if self._folded and self.place_of(at) is None:
                self._folded.clear()
                self._shown = self._all
                self.source_changed(self._shown)
            self.scroll_to_key(at)
            self.hits.seek(at)

    def newest(self) -> str | None:
        """Return the newest message of the thread."""
        mailbox = self._session.mailbox
        if self.is_flat or self.root is None or self.root not in mailbox:
            return super().newest()
        key = mailbox.summary(self.root).latest.id
        return key if self.place_of(key) is not None else super().newest()

    def is_at_newest(self) -> bool:
        """Return whether the cursor is at the newest message."""
        return self.cursor_key is not None and self.cursor_key == self.newest()

    def refresh_mail(self) -> None:
        """Draw what changed in the thread, without scrolling."""
        if self.root is None:
            return
        mailbox = self._session.mailbox
        if self.root in mailbox:
            self.root = mailbox.root_of(self.root)
        elif (found := next(self.messages, None)) is not None:
            self.root = mailbox.root_of(found.id)
        if self._read_outline():
            self.source_changed(self._shown)
        self.doubt_lines()

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
            if self._read_outline() and self.root is not None:
                self.source_changed(self._shown)

    def fold(self, is_folded: bool) -> bool:
        """Fold or unfold the replies to the message at the cursor; return whether anything changed."""
        key = self.cursor_key
        if key is None or self.is_flat or (key in self._folded) == is_folded:
            return False
        if is_folded and not self._replies(key):
            return False
        (self._folded.add if is_folded else self._folded.discard)(key)
        self._shown = self._all.folded(self._folded)
        self.source_changed(self._shown)
        self.doubt_lines()
        return True

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

    def parent_key(self) -> str | None:
        """Return the message that the one at the cursor replies to."""
        at = self.place_of(self.cursor_key)
        return self._shown.node(self._session.mailbox, at).parent if at is not None else None

    def _read_outline(self) -> bool:
        """Read the thread's outline again; return whether it changed."""
        mailbox, old = self._session.mailbox, self._shape
        self._shape = None if self.root is None else mailbox.outline(self.root, old)
        if self._shape is old and self._all.is_flat == self.is_flat:
            return False
        self._all = ShownOutline() if self._shape is None else outline_of(mailbox, self._shape, is_flat=self.is_flat)
        self._shown = self._all if self.is_flat else self._all.folded(self._folded)
        return True

    def _replies(self, key: str) -> int:
        return self._all.below(key)

    def first_reply(self) -> str | None:
        """Return the first reply to the message at the cursor, if it is shown."""
        at = self.place_of(self.cursor_key)
        return None if at is None else self._shown.first_reply(at)

    def _block(self, at: int) -> MessageBlock:
        session, key = self._session, self._shown.keys[at]
        node = self._shown.node(session.mailbox, at)
        folded = self._replies(key) if key in self._folded and not self.is_flat else 0
        marked = node.message is not None and session.mailbox.is_intervention(key)
        block = block_of(session.mailbox, node, session.now(), is_intervention=marked, folded=folded)
        return self._opened(block)

    def _opened(self, block: MessageBlock) -> MessageBlock:
        """Return a block as far as the person opened it."""
        return self._openness.applied(with_extras(block, self._session), self.scrollable_content_region.height)

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
            if isinstance(lines, MessageLines) and drawn is not None and drawn.node.message == block.node.message:
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


def with_extras(block: MessageBlock, session: Session) -> MessageBlock:
    """Return a message's block with the places of its files, if any are attached, and whether it waits to be sent."""
    message = block.node.message
    if message is None:
        return block
    if session.delayed is not None and session.store.is_waiting(session.mailbox.places(message.id)):
        block = replace(block, is_waiting=True, way=session.delayed.get(message.id))
    if any(tag.removeprefix("!").startswith(ATTACHED) for tag in message.tags):
        block = _with_files(block, message, session)
    return block


def _with_files(block: MessageBlock, message: Message, session: Session) -> MessageBlock:

    # what is missing may still come: the lines are rendered again from time to time
    is_missing = any(tag.startswith(MISSING_FILE) for tag in message.tags)
    looked = int(session.clock() // LOOK_SECONDS) if is_missing else 0
    return replace(block, files=session.mailbox.places(message.id), looked=looked)


class Openness:
    """The messages whose long text or receipts were opened, by key."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        labels = {it.id: it.key_label(keymap) for it in COMMANDS}
        self.keys = MessageKeys(labels["open.text"], labels["record"], labels["files"])
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
