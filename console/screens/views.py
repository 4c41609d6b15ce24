"""Searches that the person keeps under a name, with what each finds now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from console.bindings import bindings
from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import count
from console.screens.ask import Ask
from console.screens.list_screen import ListScreen
from console.screens.prompt import Prompt
from console.symbols import FAILED
from console.undo_history import UndoableAction
from mailstore.errors import QueryError
from mailstore.queries.query import parse

__all__ = ["SavedViews"]


class SavedViews(ListScreen):
    """Saved searches by name; enter runs one. The counts follow the mailbox."""

    NAME = "views"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def heading(self) -> str:
        return "Saved views"

    def placeholder(self) -> tuple[str, ...]:
        return ("No view is saved yet.", "", "s saves a search under a name; [views] in config.toml does too.")

    def rows(self) -> Sequence[ListRow]:
        return [self._row(name, query) for name, query in self.session.personal.views.items()]

    def _row(self, name: str, query: str) -> ListRow:
        styles = self.text_styles
        found = self.session.found.get(name)
        number = "…" if found is None else FAILED if found.problem else count(found.messages)
        fresh = f"{count(found.unseen)} unread  " if found is not None and found.unseen else ""
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
        where = "config.toml" if key in self.session.config.views else "saved here"
        found = self.session.found.get(key)
        told = [("name", key), ("query", query), ("kept in", where)]
        if found is not None and found.problem:
            told.append(("problem", found.problem))
        return facts(told)

    def action_enter(self) -> None:
        """Run the search under the cursor."""
        name = self.listing.cursor_key
        if name is None:
            self.tell("there is no view to go to")
        else:
            self.dismiss(name)

    def action_save_view(self) -> None:
        """Save a search under a name."""
        self.app.push_screen(
            Prompt("Save which search?", value=self.session.last_query, check=self._wrong), self._named
        )

    def _wrong(self, text: str) -> str:
        try:
            parse(text, self.session.now())
        except QueryError as error:
            return str(error)
        return "" if text else "words, from:, tag:, is:unread, …"

    def _named(self, query: str | None) -> None:
        if query:
            self.app.push_screen(
                Prompt("Under which name?", detail=query, check=lambda name: "" if name else "give it a name"),
                lambda name: self._save(name, query),
            )

    def _save(self, name: str | None, query: str) -> None:
        if name:
            self._change(name, query)
            self.session.undo_history.add(
                UndoableAction(
                    f"view {name} saved", lambda: self._change(name, None), lambda: self._change(name, query)
                )
            )

    def action_delete_view(self) -> None:
        """Delete the view under the cursor, after asking."""
        name = self.listing.cursor_key
        if name is None:
            self.tell("there is no view to delete")
            return
        if name in self.session.config.views:
            self.tell("this one stands in config.toml: take it out there")
            return
        query = self.session.personal.views[name]

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._change(name, None)
                self.session.undo_history.add(
                    UndoableAction(
                        f"the view {name} deleted", lambda: self._change(name, query), lambda: self._change(name, None)
                    )
                )

        self.app.push_screen(
            Ask(f"Delete the view {visible_line(name)}?", "z brings it back.", verb="delete"), answered
        )

    def _change(self, name: str, query: str | None) -> None:
        self.session.personal.set_view(name, query)
        self.session.found.pop(name, None)
        self._persist(name)
        self.redraw()

    @work(thread=True, group="marks", exit_on_error=False)
    def _persist(self, name: str) -> None:
        self.session.personal.save_view(name)
