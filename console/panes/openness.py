"""Which messages are shown whole: their long text, their receipts; remembered while the console runs."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from console.commands import COMMANDS
from console.panes.blocks import MessageBlock
from console.panes.message_lines import MessageKeys, MessageLines
from console.panes.receipts import has_more_receipts


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
