"""The left column: where to look."""

from __future__ import annotations

from console.panes.sidebar_rows import SidebarRows, sidebar_rows
from console.session import Session
from console.styles import TextStyles
from console.widgets.virtual_list import VirtualList
from mailstore.state.views import View

__all__ = ["Sidebar"]


class Sidebar(VirtualList):
    """Views, channels and agents; highlighting one shows its threads."""

    def show(self, session: Session, styles: TextStyles) -> None:
        """Draw the rows as the mailbox stands now."""
        self.set_source(SidebarRows(sidebar_rows(session), styles))

    def view_of(self, key: str) -> View | None:
        """Return the view that a row stands for."""
        source = self.source
        if not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return None
        return source.rows[at].view

    @staticmethod
    def key_of(view: View) -> str:
        """Return the row that stands for a view."""
        if view.kind == "channel":
            return view.name
        return f"{view.kind}:{view.name}" if view.name else f"view:{view.kind}"
