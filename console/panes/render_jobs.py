"""The queue of messages to be rendered: visible ones first, and a screenful of each before the rest of any."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from threading import Lock

from msgspec import Struct, field
from textual.strip import Strip

from console.panes.blocks import MessageBlock, block_foot, block_head, markdown_styles, more_line
from console.panes.message_lines import MessageKeys, MessageLines, RenderedText, attachment_lines
from console.session import Session
from console.words.styles import TextStyles

FIRST_LINES = 80
"""Lines of a tall screen."""

SLICE_SECONDS = 0.002
PAUSE_SECONDS = 0.0002
"""The worker yields to the event loop so often and so long: Python would let it wait 5 ms."""


class RenderJob(Struct, eq=False):
    """A block to be rendered at a width."""

    block: MessageBlock
    width: int
    styles: TextStyles
    text: RenderedText | None = None
    head: list[Strip] = field(default_factory=list)
    told: int = 0
    """Lines of the text that were passed on."""
    keys: MessageKeys = MessageKeys()

    def is_same(self, other: RenderJob) -> bool:
        """Return whether another job would render the same lines."""
        return self.block == other.block and self.has_same_text(other)

    def has_same_text(self, other: RenderJob) -> bool:
        """Return whether another job would render the same lines of text."""
        is_alike = self.width == other.width and self.styles is other.styles
        return is_alike and self.block.node.message == other.block.node.message

    def step(self, session: Session) -> MessageLines | None:
        """Render the next portion; return all lines so far when there are many more to show than before. Blocks."""
        block, now = self.block, session.now()
        if not self.head:
            message = block.node.message
            body = session.body(message) if message is not None else ""
            self.head = block_head(block, body, self.width, self.styles, now)
            if self.text is None:
                from console.render.body import render_body

                palette, key = markdown_styles(self.styles), self.keys.record
                is_there = message is not None
                self.text = RenderedText(render_body(body, self.width, palette, record_key=key) if is_there else ())
        text = self.text
        assert text is not None
        if not text.is_whole:
            text.render()
        if text.is_whole:
            return self._lines([*self._files(session), *block_foot(block, self.width, self.styles, now)])
        if text.size < max(FIRST_LINES, 2 * self.told) or (self.told and block.most_lines):
            return None
        self.told = text.size
        return self._lines([])

    def _files(self, session: Session) -> list[Strip]:
        block, message = self.block, self.block.node.message
        if message is None or block.files is None:
            return []
        return attachment_lines(
            session.store.attachments(message, block.files), self.keys.files, self.width, self.styles
        )

    def _lines(self, foot: list[Strip]) -> MessageLines:
        assert self.text is not None
        return MessageLines(self.head, self.text, foot, self.block.most_lines, self._more)

    def _more(self, hidden: int) -> Strip:
        assert self.text is not None
        return more_line(hidden if self.text.is_whole else None, self.keys.open, self.width, self.styles)


class RenderQueue:
    """Blocks waiting to be rendered; one thread adds them, another works on them."""

    def __init__(self, is_awaited: Callable[[str], bool]) -> None:
        self._is_awaited = is_awaited
        self._lock = Lock()
        self._waiting: dict[str, RenderJob] = {}
        self._is_worked_on = False

    def add(self, jobs: Iterable[RenderJob]) -> bool:
        """Add jobs before all others; return whether a worker must be started."""
        with self._lock:
            fresh: dict[str, RenderJob] = {}
            for job in jobs:
                key = job.block.key
                old = self._waiting.pop(key, None)
                if old is not None and old.has_same_text(job):
                    job.text = old.text
                fresh[key] = old if old is not None and old.is_same(job) else job
            self._waiting = fresh | self._waiting
            must_start = bool(self._waiting) and not self._is_worked_on
            self._is_worked_on |= must_start
            return must_start

    def _next(self) -> RenderJob | None:
        """Return the next job: the first of which nothing is rendered yet, if there is any."""
        with self._lock:
            self._waiting = {key: job for key, job in self._waiting.items() if self._is_awaited(key)}
            waiting = self._waiting.values()
            job = next((job for job in waiting if not job.told), None) or next(iter(waiting), None)
            self._is_worked_on = job is not None
            return job

    def _drop(self, job: RenderJob) -> None:
        with self._lock:
            if self._waiting.get(job.block.key) is job:
                del self._waiting[job.block.key]

    def work(self, session: Session) -> Iterator[tuple[RenderJob, MessageLines, bool]]:
        """Render until the queue is empty; yield a job, its lines so far, and whether they are all. Blocks."""
        try:
            began = time.perf_counter()
            while (job := self._next()) is not None:
                try:
                    lines = job.step(session)
                except BaseException:
                    self._drop(job)
                    raise
                if lines is not None:
                    assert job.text is not None
                    if job.text.is_whole:
                        self._drop(job)
                    yield job, lines, job.text.is_whole
                if time.perf_counter() - began > SLICE_SECONDS:
                    time.sleep(PAUSE_SECONDS)
                    began = time.perf_counter()
        except BaseException:
            with self._lock:
                self._is_worked_on = False
            raise
