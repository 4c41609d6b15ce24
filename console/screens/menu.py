"""Ask for one of a few choices, each with a key of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.widgets import Static

from console.panes.list_rows import ListRow, ListRows
from console.render.safe import visible_line
from console.screens.dialog import Dialog
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles

MOST_ROWS = 14
NARROW = 50
"""Cells of a choice with what is said of it, past which the dialog is wider."""
AROUND, AROUND_LOW = 10, 4
"""Lines of the dialog besides the choices, on a narrow screen and on a low one."""
LOW, LEAST_ROWS = 14, 3
BESIDE = 14
"""Cells of a dialog that hold neither a choice nor its note."""


class MenuChoice(Struct, frozen=True):
    """One choice: the key that takes it at once, what it is, and what is said of it at the right."""

    key: str
    label: str
    note: str = ""


class Menu(Dialog[int | None]):
    """Returns the number of the choice, None if it was cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "leave"),
        Binding("enter", "take", "take"),
        Binding("down,j", "step('cursor_down')", "down"),
        Binding("up,k", "step('cursor_up')", "up"),
    ]

    def __init__(
        self,
        question: str,
        choices: Sequence[MenuChoice],
        styles: TextStyles,
        highlighted: Callable[[int], None] | None = None,
        detail: str = "",
    ) -> None:
        super().__init__()
        self._highlighted = highlighted
        """Called with the number of the choice at the cursor."""
        self._question = question
        self._detail = detail
        """What is said below the question, as far as there is room."""
        self._choices = choices
        self._text_styles = styles

    @property
    def _is_low(self) -> bool:
        return self.app.size.height < LOW

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(visible_line(self._question), id="ask-question", markup=False)
            if self._detail:
                yield Static(self._shown_detail(), id="ask-detail", markup=False)
            yield VirtualList(id="menu")
            yield Static("Enter or its key: choose · Esc: cancel", id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Show the choices, the first of them selected."""
        styles, listing = self._text_styles, self._listing
        rows = [
            ListRow(
                str(at),
                ((f"{choice.key}  ", styles.accent), (visible_line(choice.label), styles.text)),
                ((visible_line(choice.note), styles.muted),) if choice.note and self._has_room_for(choice) else (),
            )
            for at, choice in enumerate(self._choices)
        ]
        longest = max((cell_len(choice.label) + cell_len(choice.note) for choice in self._choices), default=0)
        self.set_class(longest > NARROW, "-wide")
        self.set_class(self._is_low, "-low")
        room = self.app.size.height - self._around - (self._is_low and bool(self._detail))
        listing.styles.height = min(len(rows), MOST_ROWS, max(LEAST_ROWS, room))
        listing.set_source(ListRows(rows, styles))
        listing.focus()

    def _has_room_for(self, choice: MenuChoice) -> bool:
        """Say whether a choice's note stands beside what it is, which must not be cut for it."""
        return cell_len(choice.label) + cell_len(choice.note) + BESIDE <= self.app.size.width

    @property
    def _around(self) -> int:
        return AROUND_LOW if self._is_low else AROUND

    def _shown_detail(self) -> str:
        """Return the detail, cut where it leaves no room for the choices, which says how much is missing."""
        lines = self._detail.split("\n")
        choices = min(len(self._choices), LEAST_ROWS) if self._is_low else len(self._choices)
        room = max(1 if self._is_low else 3, self.app.size.height - self._around - choices)
        if len(lines) <= room:
            return self._detail
        return "\n".join([*lines[: room - 1], f"… {len(lines) - room + 1:,} more lines"])

    @property
    def _listing(self) -> VirtualList:
        return self.query_one("#menu", VirtualList)

    def on_key(self, event: Key) -> None:
        """Take the choice whose key was pressed."""
        at = next((at for at, choice in enumerate(self._choices) if choice.key == event.character), None)
        if at is not None:
            event.stop()
            self.dismiss(at)

    @on(VirtualList.Highlighted)
    def _moved(self, event: VirtualList.Highlighted) -> None:
        if self._highlighted is not None and event.key == self._listing.cursor_key:
            self._highlighted(int(event.key))

    @on(VirtualList.Chosen)
    def _chosen(self) -> None:
        self.action_take()

    def action_step(self, how: str) -> None:
        """Move the cursor."""
        getattr(self._listing, f"action_{how}")()

    def action_take(self) -> None:
        """Take the choice at the cursor."""
        key = self._listing.cursor_key
        self.dismiss(None if key is None else int(key))

    def action_leave(self) -> None:
        """Cancel."""
        self.dismiss(None)
