"""Choose from a list: one of a message's links, of its files, or of anything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from console.render.links import Link
from console.render.safe import visible_line
from console.render.short_text import plural, shorten_middle, size_words
from console.screens.dialog import Dialog
from mailstore.records.details import AttachedFile

Chosen = TypeVar("Chosen")
LONGEST_NAME = 120


class ListDialog(Dialog[Chosen | None]):
    """Returns what was chosen, None if nothing was; a subclass declares the keys that choose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "close"),
        Binding("j,down", "move('cursor_down')", "down"),
        Binding("k,up", "move('cursor_up')", "up"),
        Binding("g,home", "move('first')", "first"),
        Binding("G,end", "move('last')", "last"),
    ]

    def __init__(self, question: str, rows: Sequence[Content], keys: str, *, first: int = 0) -> None:
        super().__init__()
        self._question = question
        self._rows = rows
        self._keys = keys
        self._first = first

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(self._question, id="ask-question", markup=False)
            yield OptionList(*map(Option, self._rows), id="ask-rows", compact=True)
            yield Static(self._keys, id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()
        self._list.highlighted = self._first

    @property
    def _list(self) -> OptionList:
        return self.query_one("#ask-rows", OptionList)

    def action_move(self, how: str) -> None:
        """Move in the list."""
        getattr(self._list, f"action_{how}")()

    def action_leave(self) -> None:
        """Choose none."""
        self.dismiss(None)


class LinkChoice(NamedTuple):
    """A link, and whether it is to be copied rather than opened."""

    link: Link
    is_copied: bool


class LinkDialog(ListDialog[LinkChoice]):
    """Returns the link that was chosen; closes with escape, q and b."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "leave", "close"), Binding("y", "copy", "copy")]

    def __init__(self, links: Sequence[Link]) -> None:
        rows = [_link_row(link) for link in links]
        super().__init__(plural(len(links), "link"), rows, "Enter: open · y: copy · Esc: close")
        self._links = links

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(LinkChoice(self._links[event.option_index], False))

    def action_copy(self) -> None:
        """Copy the link's target."""
        if (at := self._list.highlighted) is not None:
            self.dismiss(LinkChoice(self._links[at], True))


def _link_row(link: Link) -> Content:
    """Return a link as two lines, unless its text is its target."""
    if link.text == link.target:
        return Content(link.target)
    return Content.assemble(link.text or "(no text)", "\n  ", (link.target, "$muted"))


class AttachmentChoice(NamedTuple):
    """What is to be done with which files."""

    what: Literal["open", "save"]
    files: tuple[AttachedFile, ...]


class AttachmentDialog(ListDialog[AttachmentChoice]):
    """Returns what was chosen; closes with escape, q and the key that opened it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("X", "leave", "close"),
        Binding("s", "save", "save"),
        Binding("S", "save_all", "save all"),
    ]

    def __init__(self, files: Sequence[AttachedFile], selected: AttachedFile | None = None) -> None:
        question, rows = plural(len(files), "file"), [_file_row(file) for file in files]
        first = files.index(selected) if selected is not None else 0
        super().__init__(question, rows, "Enter: open · s: save · S: save all · Esc: close", first=first)
        self._files = files

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


def _file_row(file: AttachedFile) -> Content:
    """Return a file as its name and its size, or what is wrong with it."""
    name = shorten_middle(visible_line(file.name), LONGEST_NAME)
    if file.size is None:
        return Content.assemble(name, (f"  {visible_line(file.problem)}", "$warning"))
    return Content.assemble(name, (f"  {size_words(file.size)}", "$muted"))
