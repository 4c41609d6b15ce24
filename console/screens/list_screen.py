"""Show a full-screen list, with details of the row under the cursor beside or below it."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Resize
from textual.strip import Strip

from console.commands.command import Situation
from console.panes.blocks import markdown_styles
from console.panes.facts import FactPage
from console.panes.footer import footer_keys
from console.panes.header import Header, headline
from console.panes.list_rows import ListRow, ListRows
from console.panes.titles import as_title
from console.render.body import render_body
from console.screens.base_screen import Action, BaseScreen, situation_of
from console.screens.counting import Move
from console.screens.pages import show_help
from console.screens.undoing import Undoing
from console.session import Session
from console.widgets.page_view import PageView
from console.widgets.rows import RowSource
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles
from mailstore.records.message import Message

WIDE = 110
LONGEST_TEXT = 4000
SECONDS = 1.0
WAIT = Strip([Segment("…")])


class ListScreen(BaseScreen[str | None]):
    """One of the console's full-screen lists; returns the id of a message to go to, or None.

    Each list has a `NAME` (the pane under which its keys are declared), a title, rows and details of a row, and binds
    `bindings(NAME)`. `redraw` is called when mail came or time passed: the cursor and the marks stay on rows of the
    same keys.
    """

    NAME: ClassVar[str]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._undoing = Undoing(self)
        self.marked: set[str] = set()
        self._is_shown = False
        self._text: tuple[tuple[str, int], list[Strip]] | None = None
        self._asked: tuple[str, int] | None = None

    def compose(self) -> ComposeResult:
        self.set_class(self.app.size.width >= WIDE, "-wide", update=False)  # not once all is styled
        yield Header(self.text_styles, id="header")
        with Container(id="sheet"):
            yield VirtualList(id="rows")
            about = PageView(id="about")
            about.can_focus = False
            yield about
        yield self.new_footer()

    # What each list says

    @abstractmethod
    def heading(self) -> str:
        """Return the title of the list."""

    def rows(self) -> Sequence[ListRow]:
        """Return the rows for the mailbox as it is now; none where `row_source` has rows of its own."""
        return []

    def row_source(self, rows: Sequence[ListRow]) -> RowSource:
        """Return the rows as the list shows them."""
        return ListRows(rows, self.text_styles, self.marked)

    def keys_listed(self) -> Sequence[str]:
        """Return the keys of the rows that can be marked, in their order."""
        return [row.key for row in self.rows()]

    @abstractmethod
    def about(self, key: str) -> FactPage:
        """Return the details of a row."""

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        """Return the subtitle: how many rows there are."""
        marked = f" · {len(self.marked)} marked" if self.marked else ""
        return f"{len(rows)}{marked}"

    def placeholder(self) -> tuple[str, ...]:
        """Return what is shown if there are no rows."""
        return ("Nothing here.",)

    def target(self, key: str) -> str | None:
        """Return the message that enter goes to, or None."""
        return key

    # The same for all lists

    @property
    def listing(self) -> VirtualList:
        """The list."""
        return self.query_one("#rows", VirtualList)

    def pane(self) -> str:
        return self.NAME

    def situation(self) -> Situation:
        return situation_of(self.session, has_row=self.listing.cursor_key is not None)

    def on_mount(self) -> None:
        """Show the rows."""
        self._is_shown = True
        self.redraw()
        self.listing.focus()
        self.set_interval(SECONDS, self._draw_header)

    def redraw(self) -> None:
        """Draw everything; the cursor stays on its row."""
        if not self._is_shown or not self.is_attached:  # what was done here may be undone once the list is closed
            return
        rows = self.rows()
        if self.marked:
            self.marked.intersection_update(self.keys_listed())
        self.listing.placeholder = self.placeholder()
        self.listing.set_source(self.row_source(rows))
        self.listing.set_titles(as_title(self.heading()), as_title(self.subtitle(rows)))
        self.tell_about()
        self._show_keys()
        self._draw_header()

    def _show_keys(self) -> None:
        """Name in the footer the keys that suit the row."""
        self.footer.keys = footer_keys(self.NAME, self.session.keymap, self.session.why_not, self.situation())

    def _draw_header(self) -> None:
        """Draw the header, which shows the time."""
        if self.is_attached:
            self.query_one("#header", Header).headline = headline(self.session)

    def chosen(self) -> list[str]:
        """Return the marked rows in the order of the list, else the one under the cursor."""
        if self.marked:
            return [key for key in self.keys_listed() if key in self.marked]
        return [self.listing.cursor_key] if self.listing.cursor_key is not None else []

    def tell_about(self) -> None:
        """Show the details of the row under the cursor."""
        key = self.listing.cursor_key
        about = self.about(key) if key is not None else FactPage([])
        target = self.target(key) if key is not None else None
        message = self.session.mailbox.message(target) if target is not None else None
        if message is None:
            self._text = self._asked = None
        else:
            asked = message.id, self._about_width
            if self._text is not None and self._text[0] != asked:
                self._text = None
            if self._text is None and asked != self._asked and asked[1] > 0:
                self._asked = asked
                self._read_text(message, asked)
            about = about.with_below([Strip([]), *(self._text[1] if self._text is not None else [WAIT])])
        self._about.update(about)

    @property
    def _about(self) -> PageView:
        return self.query_one("#about", PageView)

    @property
    def _about_width(self) -> int:
        return self._about.scrollable_content_region.width

    @work(group="text", exit_on_error=False)
    async def _read_text(self, message: Message, asked: tuple[str, int]) -> None:
        lines = await asyncio.to_thread(self._rendered, message, asked[1])
        if asked == self._asked:  # the cursor may have gone on meanwhile
            self._text, self._asked = (asked, lines), None
            self.tell_about()

    def text_shown(self, message: Message) -> str:
        """Return what is shown of a message below the details; blocks."""
        return self.session.body(message)

    def _rendered(self, message: Message, width: int) -> list[Strip]:
        """Return the beginning of a message's text as lines; blocks."""
        body = self.text_shown(message)
        palette = markdown_styles(self.text_styles)
        portions = render_body(body[:LONGEST_TEXT], width, palette, is_wrapped=True)
        lines = [portion[at] for portion in portions for at in range(len(portion))]
        if len(body) > LONGEST_TEXT:
            lines.append(Strip([Segment(f"… {len(body) - LONGEST_TEXT:,} more characters", self.text_styles.muted)]))
        return lines

    @on(VirtualList.Highlighted, "#rows")
    def _row_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.key == self.listing.cursor_key:
            self.tell_about()
            self._show_keys()
            self._about.scroll_home(animate=False, immediate=True)

    @on(VirtualList.Chosen, "#rows")
    def _row_chosen(self) -> None:
        self.enter()

    def on_resize(self, event: Resize) -> None:
        """Show details beside the list if there is room, else below it."""
        self.set_class(event.size.width >= WIDE, "-wide")
        self.call_after_refresh(self.redraw)

    def actions(self) -> Mapping[str, Action]:
        return {
            **super().actions(),
            "help": partial(show_help, self),
            "jump": self.enter,
            "back": self.back,
            "undo": self._undoing.undo,
            "redo": self._undoing.redo,
            "rows.mark": self.mark,
            "rows.mark-all": self.mark_all,
            "rows.scroll-down": partial(self.scroll_about, 3),
            "rows.scroll-up": partial(self.scroll_about, -3),
            "rows.close": self.close,
        }

    def move(self, how: Move) -> None:
        self.move_in(self.listing, how)

    def scroll_about(self, lines: int) -> None:
        """Scroll the details of the row."""
        self._about.scroll_relative(y=lines, animate=False)

    def mark(self) -> None:
        """Mark the row under the cursor, or remove its mark, and go to the next row."""
        key = self.listing.cursor_key
        if key is None:
            self.tell("Nothing to mark")
            return
        self.marked ^= {key}
        self.redraw()
        self.listing.action_cursor_down()

    def mark_all(self) -> None:
        """Mark all rows, or none if all are marked."""
        every = set(self.keys_listed())
        self.marked = set() if self.marked == every else every
        self.redraw()

    def enter(self) -> None:
        """Go to the message of the row under the cursor."""
        key = self.listing.cursor_key
        target = self.target(key) if key is not None else None
        if target is None or target not in self.session.mailbox:
            self.tell("No message to go to")
        else:
            self.dismiss(target)

    def back(self) -> None:
        """Remove the marks, else go back to the mail."""
        if self.marked:
            self.marked.clear()
            self.redraw()
        else:
            self.dismiss(None)

    def close(self) -> None:
        """Go back to the mail, whatever is marked."""
        self.dismiss(None)
