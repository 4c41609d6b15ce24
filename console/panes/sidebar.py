"""The left column: views, channels and agents."""

from __future__ import annotations

from msgspec.structs import replace

from console.panes.sidebar_rows import SidebarRow, SidebarRows, number_asking, sidebar_rows
from console.session import Session
from console.widgets.virtual_list import VirtualList
from console.words.styles import TextStyles
from mailstore.state.views import View


class Sidebar(VirtualList):
    """Views, channels and agents; the threads of the one at the cursor are shown."""

    asking = 0
    """How many agents wait for a permission."""

    def show(self, session: Session, styles: TextStyles) -> None:
        """Draw the rows for the mailbox as it is now."""
        rows = sidebar_rows(session, self.cursor_key)
        self._keep_row(rows)
        self.asking = number_asking(session)
        self.set_source(SidebarRows(rows, session, styles))

    def _keep_row(self, rows: list[SidebarRow]) -> None:
        """Keep the row at the cursor where its agent or channel is gone, as all are while a mailbox is read again."""
        source, key = self.source, self.cursor_key
        if key is None or not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return
        row = source.rows[at]
        if (
            row.view is not None
            and row.view.kind in ("agent", "channel")
            and all(sidebar_row.key != key for sidebar_row in rows)
        ):
            rows.insert(at, replace(row, count=0, quiet=0))

    def view_of(self, key: str) -> View | None:
        """Return the view of a row."""
        source = self.source
        if not isinstance(source, SidebarRows) or (at := source.index(key)) is None:
            return None
        return source.rows[at].view

    @property
    def command(self) -> str:
        """The action that opens the screen of the row at the cursor; empty where its threads are listed."""
        source = self.source
        return source.rows[self.cursor].command if isinstance(source, SidebarRows) and self.cursor >= 0 else ""

    @staticmethod
    def key_of(view: View) -> str:
        """Return the key of a view's row."""
        if view.kind == "channel":
            return view.name
        return f"{view.kind}:{view.name}" if view.name else f"view:{view.kind}"
