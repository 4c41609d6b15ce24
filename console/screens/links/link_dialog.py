"""List the links of a message: each with its text and where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from console.render.links import Link
from console.render.short_text import plural
from console.screens.list_dialog import ListDialog


class LinkChoice(NamedTuple):
    """A link, and whether it is to be copied rather than opened."""

    link: Link
    is_copied: bool


class LinkDialog(ListDialog[LinkChoice]):
    """Returns the link that was chosen; closes with escape, q and b."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "leave", "close"), Binding("y", "copy", "copy")]

    def __init__(self, links: Sequence[Link]) -> None:
        rows = [_row(link) for link in links]
        super().__init__(plural(len(links), "link"), rows, "Enter: open · y: copy · Esc: close")
        self._links = links

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(LinkChoice(self._links[event.option_index], False))

    def action_copy(self) -> None:
        """Copy the link's target."""
        if (at := self._list.highlighted) is not None:
            self.dismiss(LinkChoice(self._links[at], True))


def _row(link: Link) -> Content:
    """Return a link as two lines, unless its text is its target."""
    if link.text == link.target:
        return Content(link.target)
    return Content.assemble(link.text or "(no text)", "\n  ", (link.target, "$muted"))
