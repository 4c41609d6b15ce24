"""List the links of a message: each with its text and where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from console.render.links import Link

__all__ = ["LinkChoice", "LinkDialog"]


class LinkChoice(NamedTuple):
    """A link, and whether it is to be copied rather than opened."""

    link: Link
    is_copied: bool


class LinkDialog(ModalScreen[LinkChoice | None]):
    """Returns the link that was chosen; closes with escape, q and b."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,b", "leave", "close"),
        Binding("j,down", "move('cursor_down')", "down"),
        Binding("k,up", "move('cursor_up')", "up"),
        Binding("g,home", "move('first')", "first"),
        Binding("G,end", "move('last')", "last"),
        Binding("y", "copy", "copy"),
    ]

    def __init__(self, links: Sequence[Link]) -> None:
        super().__init__()
        self._links = links

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            number = len(self._links)
            yield Static("1 link" if number == 1 else f"{number} links", id="ask-question", markup=False)
            yield OptionList(*(Option(_row(link)) for link in self._links), id="ask-links", compact=True)
            yield Static("Enter: open · y: copy · Esc: close", id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Focus the list."""
        self._list.focus()
        self._list.highlighted = 0

    @property
    def _list(self) -> OptionList:
        return self.query_one("#ask-links", OptionList)

    def action_move(self, how: str) -> None:
        """Move in the list."""
        getattr(self._list, f"action_{how}")()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(LinkChoice(self._links[event.option_index], False))

    def action_copy(self) -> None:
        """Copy the link's target."""
        if (at := self._list.highlighted) is not None:
            self.dismiss(LinkChoice(self._links[at], True))

    def action_leave(self) -> None:
        """Choose none."""
        self.dismiss(None)


def _row(link: Link) -> Content:
    """Return a link as two lines, unless its text is its target."""
    if link.text == link.target:
        return Content(link.target)
    return Content.assemble(link.text or "(no text)", "\n  ", (link.target, "$muted"))
