"""The left column: views, channels and agents."""

from __future__ import annotations

from console.panes.sidebar_rows import SidebarRows, sidebar_rows
from console.session import Session
from console.styles import TextStyles
from console.widgets.virtual_list import VirtualList
from mailstore.state.views import View

__all__ = ["Sidebar"]


class Sidebar(VirtualList):
    """Views, channels and agents; the threads of the one at the cursor are shown."""

    def show(self, session: Session, styles: TextStyles) -> None:
        """Draw the rows for the mailbox as it is now."""
        self.set_source(SidebarRows(sidebar_rows(session), styles))

    def view_of(self, key: str) -> View | None:
        """Return the view of a row."""
        source = self.source
        if not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return None
        return source.rows[at].view

    @staticmethod
    def key_of(view: View) -> str:
        """Return the key of a view's row."""
        if view.kind == "channel":
            return view.name
        return f"{view.kind}:{view.name}" if view.name else f"view:{view.kind}"
