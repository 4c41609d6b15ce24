"""What stands on the main screen: its panes, which of them has the focus, and how its lists are moved in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import DescendantFocus, Key, Resize
from textual.reactive import Reactive
from textual.widget import Widget
from textual.worker import Worker

from console import later
from console.commands import HELP, bindings, footer_keys
from console.failures import tell_failure
from console.panes.footer import Footer
from console.panes.header import Header
from console.panes.sidebar import Sidebar
from console.panes.threads import ThreadList
from console.screens.listing import Listing
from console.screens.location import Location
from console.session import Session
from console.styles import TextStyles
from console.widgets.backdrop import Backdrop

if TYPE_CHECKING:
    from console.panes.composer import Composer
    from console.panes.conversation import Conversation

__all__ = ["PANES", "Front"]

PANES = ("sidebar", "threads", "conversation", "composer")


class Front(Listing):
    """Three columns between a header and a footer. The third is empty in the first frame, when keys move already."""

    # what the focus changes is painted by what it changes: Textual would paint the whole screen
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)

    AUTO_FOCUS: ClassVar[str | None] = "#threads"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, session: Session, styles: TextStyles, look: Location) -> None:
        super().__init__(session, look)
        self.text_styles = styles

    def compose(self) -> ComposeResult:
        yield Header(self.text_styles, id="header")
        with Backdrop(id="columns"):
            yield Sidebar(id="sidebar")
            with Backdrop(id="middle"):
                yield ThreadList(id="threads")
            yield Backdrop(id="right")
        yield Footer(self.text_styles, HELP.key_label(self.session.keymap), id="footer")

    # Panes

    @property
    def sidebar(self) -> Sidebar:
        return self.query_one("#sidebar", Sidebar)

    @property
    def threads(self) -> ThreadList:
        return self.query_one("#threads", ThreadList)

    @property
    def conversation(self) -> Conversation:
        return self.query_one("#conversation", later.Conversation)

    @property
    def composer(self) -> Composer:
        return self.query_one("#composer", later.Composer)

    @property
    def footer(self) -> Footer:
        return self.query_one("#footer", Footer)

    def pane(self) -> str:
        """Return the name of the pane that has the focus."""
        at: Widget | None = self.focused
        while at is not None:
            if at.id in PANES:
                return at.id
            at = at.parent if isinstance(at.parent, Widget) else None
        return "threads"

    def tell(self, words: str) -> None:
        """Say something in the footer, until the next key."""
        self.footer.notice = words

    def action_move(self, how: str) -> None:
        """Move the cursor of the focused pane."""
        pane = self.pane()
        getattr(self.threads if pane == "composer" else self.query_one(f"#{pane}"), f"action_{how}")()

    # Layout

    def on_resize(self, event: Resize) -> None:
        """Show as many columns as have room: three, two below 100 cells, one below 70."""
        width = event.size.width
        self.set_class(70 <= width < 100, "-medium")
        self.set_class(width < 70, "-narrow")
        self.set_class(event.size.height < 30, "-low")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Tell the style sheet and the footer which pane has the focus."""
        pane = self.pane()
        if not self.has_class(f"-at-{pane}"):  # each change of a class styles the whole screen anew: one is enough
            self.remove_class(*(f"-at-{name}" for name in PANES), update=False)
            self.add_class(f"-at-{pane}")
        self.footer.keys = footer_keys(pane, self.session.keymap, self.session.store.capabilities.why_not)

    def on_key(self, event: Key) -> None:
        """Take the footer's words away with the next key; what the key does comes after this."""
        self.footer.notice = ""

    def on_input_changed(self) -> None:
        """Take the footer's words away as one types."""
        self.footer.notice = ""

    def on_text_area_changed(self) -> None:
        """Take the footer's words away as one types."""
        self.footer.notice = ""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell what failed."""
        tell_failure(self.app, event)
