"""The right column: one thread as a reply tree, its texts read and rendered when they come into sight."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on, work
from textual.message import Message as Note
from textual.strip import Strip
from textual.worker import Worker, get_current_worker

from console.failures import tell_failure
from console.ink import Ink
from console.panes.blocks import Block, block_lines, block_of, estimate
from console.session import Session
from console.widgets.block_view import BlockView
from mailstore.mailbox import Mailbox
from mailstore.message import Message
from mailstore.views import Node

__all__ = ["Conversation"]

INDENT = 2
DEEPEST = 8


class Nodes:
    """The messages of a thread that are shown, as a source for the block view."""

    def __init__(self, nodes: list[Node], *, is_flat: bool) -> None:
        self.nodes = nodes
        self._is_flat = is_flat

    def __len__(self) -> int:
        return len(self.nodes)

    def key(self, index: int) -> str:
        return self.nodes[index].id

    def estimate(self, index: int, width: int) -> int:
        return estimate(self.nodes[index].message, width)

    def indent(self, index: int) -> int:
        return 0 if self._is_flat else INDENT * min(DEEPEST, self.nodes[index].depth)


class Conversation(BlockView):
    """One thread; `key` of the highlighted block is the message that commands act on."""

    @dataclass
    class Rendered(Note):
        """Lines of a block came out of the worker."""

        block: Block
        width: int
        lines: list[Strip]
        ink: Ink

    def __init__(self, session: Session, ink: Ink, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._session = session
        self._ink = ink
        self._blocks: dict[str, Block] = {}
        self.root: str | None = None
        self.is_flat = False
        self._folded: set[str] = set()
        self._entries: list[Node] = []

    @property
    def messages(self) -> list[Message]:
        """The thread's messages as they are shown, placeholders left out."""
        return [node.message for node in self._entries if node.message is not None]

    @property
    def message(self) -> Message | None:
        """The highlighted message."""
        return self._session.mailbox.message(self.cursor_key) if self.cursor_key is not None else None

    def show(self, root: str | None, *, at: str | None = None) -> None:
        """Show a thread from its beginning, or with the message `at` highlighted and in sight."""
        if root != self.root:
            self.root = root
            self._folded.clear()
            self._blocks.clear()
            self._entries = self._shown()
            self.set_source(Nodes(self._entries, is_flat=self.is_flat))
        if at is not None:
            self.scroll_to_key(at)

    def refresh_mail(self) -> None:
        """Draw what changed in the thread, without moving what is looked at."""
        if self.root is None:
            return
        if self.root not in self._session.mailbox:
            found = [node.id for node in self._entries if node.id in self._session.mailbox]
            self.root = self._session.mailbox.root_of(found[0]) if found else self.root
        else:
            self.root = self._session.mailbox.root_of(self.root)
        nodes = self._shown()
        if nodes != self._entries:
            self._entries = nodes
            self.source_changed(Nodes(nodes, is_flat=self.is_flat))
        shown = {node.id: node for node in nodes}
        for key, old in list(self._blocks.items()):
            node = shown.get(key)
            if node is not None and (new := self._block(node)) != old:
                self._blocks[key] = new
                self._render_blocks([new], self.text_width(key), self._ink)

    def set_ink(self, ink: Ink) -> None:
        """Write everything anew after the theme changed."""
        self._ink = ink
        self._blocks.clear()
        self.clear_lines()

    def toggle_flat(self) -> None:
        """Change between reply tree and order of time."""
        self.is_flat = not self.is_flat
        self._reshow()

    def fold(self, is_folded: bool) -> bool:
        """Fold or unfold the replies below the highlighted message; say whether anything changed."""
        key = self.cursor_key
        if key is None or self.is_flat or (key in self._folded) == is_folded:
            return False
        if is_folded and not self._replies(key):
            return False
        (self._folded.add if is_folded else self._folded.discard)(key)
        self._blocks.pop(key, None)
        self._reshow()
        self.clear_lines(key)
        return True

    def parent_key(self) -> str | None:
        """Return the message that the highlighted one answers."""
        return next((node.parent for node in self._entries if node.id == self.cursor_key), None)

    def _reshow(self) -> None:
        self._entries = self._shown()
        self.source_changed(Nodes(self._entries, is_flat=self.is_flat))

    def _replies(self, key: str) -> int:
        return len(self._session.mailbox.tree(key)) - 1

    def _shown(self) -> list[Node]:
        mailbox: Mailbox = self._session.mailbox
        if self.root is None:
            return []
        nodes = mailbox.tree(self.root)
        if self.is_flat:
            found = [node for node in nodes if node.message is not None]
            return sorted(found, key=lambda node: node.message.time if node.message else 0.0)
        shown: list[Node] = []
        hidden_below: int | None = None
        for node in nodes:
            if hidden_below is not None and node.depth > hidden_below:
                continue
            hidden_below = node.depth if node.id in self._folded else None
            shown.append(node)
        return shown

    def _block(self, node: Node) -> Block:
        session = self._session
        folded = self._replies(node.id) if node.id in self._folded else 0
        marked = node.message is not None and session.mailbox.is_intervention(node.id)
        return block_of(session.mailbox, node, session.now(), is_intervention=marked, folded=folded)

    @on(BlockView.LinesWanted)
    def _lines_wanted(self, event: BlockView.LinesWanted) -> None:
        event.stop()
        shown = {node.id: node for node in self._entries}
        wanted = [self._block(shown[key]) for key in event.keys if key in shown]
        self._blocks.update((block.key, block) for block in wanted)
        for block in wanted:
            self._render_blocks([block], self.text_width(block.key), self._ink)

    @work(thread=True, group="blocks", exit_on_error=False)
    def _render_blocks(self, blocks: list[Block], width: int, ink: Ink) -> None:
        worker = get_current_worker()
        for block in blocks:
            if worker.is_cancelled:
                return
            message = block.node.message
            body = self._session.body(message) if message is not None else ""
            lines = block_lines(block, body, width, ink, self._session.now())
            self.post_message(self.Rendered(block, width, lines, ink))

    @on(Rendered)
    def _rendered(self, event: Rendered) -> None:
        event.stop()
        if event.ink is self._ink and self._blocks.get(event.block.key) == event.block:
            self.set_lines(event.block.key, event.width, event.lines)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell what failed."""
        tell_failure(self.app, event)
