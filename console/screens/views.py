"""List saved searches, with the number of their hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import count
from console.screens.ask import Ask
from console.screens.base_screen import Action, bindings
from console.screens.list_screen import ListScreen
from console.screens.prompt import Prompt, QueryPrompt
from console.state.undo_history import UndoableAction
from console.words.symbols import FAILED


class SavedViews(ListScreen):
    """Saved searches by name; enter runs one. Counts are kept up to date."""

    NAME = "views"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Saved views"

    def placeholder(self) -> tuple[str, ...]:
        return ("No saved views.", "", "s: save a search, or add it to [views] in config.toml.")

    def rows(self) -> Sequence[ListRow]:
        return [self._row(name, query) for name, query in self.session.personal.views.items()]

    def _row(self, name: str, query: str) -> ListRow:
        styles = self.text_styles
        saved_view_hits = self.session.found.get(name)
        number = (
            "…" if saved_view_hits is None else FAILED if saved_view_hits.problem else count(saved_view_hits.messages)
        )
        fresh = (
            f"{count(saved_view_hits.unseen)} new  " if saved_view_hits is not None and saved_view_hits.unseen else ""
        )
        return ListRow(
            key=name,
            left=((visible_line(name), styles.strong),),
            right=((fresh, styles.accent), (number, styles.text)),
            left_below=((visible_line(query), styles.muted),),
        )

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        query = self.session.personal.views.get(key, "")
        where = "config.toml" if key in self.session.config.views else "saved in the console"
        saved_view_hits = self.session.found.get(key)
        told = [("name", key), ("query", query), ("kept in", where)]
        if saved_view_hits is not None and saved_view_hits.problem:
            told.append(("problem", saved_view_hits.problem))
        return facts(told)

    def actions(self) -> Mapping[str, Action]:
        return {**super().actions(), "views.save": self.save_view, "views.delete": self.delete_view}

    def enter(self) -> None:
        """Run the search under the cursor."""
        name = self.listing.cursor_key
        if name is None:
            self.tell("No view selected")
        else:
            self.dismiss(name)

    def save_view(self) -> None:
        """Save a search under a name."""
        asked = QueryPrompt(self.session, "Search to save", value=self.session.last_query)
        self.app.push_screen(asked, self._named)

    def _named(self, query: str | None) -> None:
        if query:
            self.app.push_screen(
                Prompt("Name of this view", detail=query, check=lambda name: "" if name else "Enter a name"),
                lambda name: self._save(name, query),
            )

    def _save(self, name: str | None, query: str) -> None:
        if name:
            self._change(name, query)
            self.session.undo_history.add(
                UndoableAction(
                    f"View {name} saved", lambda: self._change(name, None), lambda: self._change(name, query)
                )
            )

    def delete_view(self) -> None:
        """Delete the view under the cursor, after asking."""
        name = self.listing.cursor_key
        if name is None:
            self.tell("No view selected")
            return
        if name in self.session.config.views:
            self.tell("This view is set in config.toml: remove it there")
            return
        query = self.session.personal.views[name]

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._change(name, None)
                self.session.undo_history.add(
                    UndoableAction(
                        f"View {name} deleted", lambda: self._change(name, query), lambda: self._change(name, None)
                    )
                )

        self.app.push_screen(Ask(f"Delete the view {visible_line(name)}?", "z: undo", verb="delete"), answered)

    def _change(self, name: str, query: str | None) -> None:
        self.session.personal.set_view(name, query)
        self.session.found.pop(name, None)
        self._persist(name)
        self.redraw()

    @work(thread=True, group="marks", exit_on_error=False)
    def _persist(self, name: str) -> None:
        self.session.personal.save_view(name)
