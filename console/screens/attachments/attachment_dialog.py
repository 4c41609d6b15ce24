"""List the files of a message: each with its size, or why it can't be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from console.render.safe import visible_line
from console.render.short_text import plural, shorten_middle, size_words
from mailstore.records.attached_file import AttachedFile

__all__ = ["AttachmentChoice", "AttachmentDialog"]

LONGEST_NAME = 120


class AttachmentChoice(NamedTuple):
    """What is to be done with which files."""

    what: Literal["open", "save"]
    files: tuple[AttachedFile, ...]


class AttachmentDialog(ModalScreen[AttachmentChoice | None]):
    """Returns what was chosen; closes with escape, q and the key that opened it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,X", "leave", "close"),
        Binding("j,down", "move('cursor_down')", "down"),
        Binding("k,up", "move('cursor_up')", "up"),
        Binding("g,home", "move('first')", "first"),
        Binding("G,end", "move('last')", "last"),
        Binding("s", "save", "save"),
        Binding("S", "save_all", "save all"),
    ]

    def __init__(self, files: Sequence[AttachedFile], selected: AttachedFile | None = None) -> None:
        super().__init__()
        self._files = files
        self._first = files.index(selected) if selected is not None else 0

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(plural(len(self._files), "file"), id="ask-question", markup=False)
            yield OptionList(*(Option(_row(file)) for file in self._files), id="ask-links", compact=True)
            yield Static("Enter: open · s: save · S: save all · Esc: close", id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()
        self._list.highlighted = self._first

    @property
    def _list(self) -> OptionList:
        return self.query_one("#ask-links", OptionList)

    def action_move(self, how: str) -> None:
        """Move in the list."""
        getattr(self._list, f"action_{how}")()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(AttachmentChoice("open", (self._files[event.option_index],)))

    def action_save(self) -> None:
        """Save the file."""
        if (at := self._list.highlighted) is not None:
            self.dismiss(AttachmentChoice("save", (self._files[at],)))

    def action_save_all(self) -> None:
        """Save all files that can be read."""
        self.dismiss(AttachmentChoice("save", tuple(file for file in self._files if not file.problem)))

    def action_leave(self) -> None:
        """Choose none."""
        self.dismiss(None)


def _row(file: AttachedFile) -> Content:
    """Return a file as its name and its size, or what is wrong with it."""
    name = shorten_middle(visible_line(file.name), LONGEST_NAME)
    if file.size is None:
        return Content.assemble(name, (f"  {visible_line(file.problem)}", "$warning"))
    return Content.assemble(name, (f"  {size_words(file.size)}", "$muted"))
