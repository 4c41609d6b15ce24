"""List unreadable lines: file, number, reason and content."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from console.bindings import bindings
from console.panes.facts import FactPage, fact
from console.panes.list_rows import ListRow
from console.render.safe import visible, visible_line
from console.screens.list_screen import ListScreen
from console.session import Session
from console.styles import TextStyles
from console.symbols import FAILED
from mailstore.errors import StoreError
from mailstore.queries.raw_lines import raw_line
from mailstore.records.message import Problem

__all__ = ["UnreadableList"]

LONGEST_LINE = 4000
"""Bytes of a line that are shown."""


class UnreadableList(ListScreen):
    """Unreadable lines first, then those read with a warning."""

    NAME = "unreadable"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._problems: dict[str, Problem] = {}
        self._rows: list[ListRow] = []
        self._listed: tuple[object, int] | None = None
        self._raw: tuple[str, str] | None = None
        self._reading = ""

    def heading(self) -> str:
        return "Unreadable lines"

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        fatal = sum(problem.fatal for problem in self._problems.values())
        doubts = len(rows) - fatal
        return f"{fatal} unreadable" + (f" · {doubts} warning{'s' * (doubts != 1)}" if doubts else "")

    def placeholder(self) -> tuple[str, ...]:
        return ("Every line can be read.",)

    def rows(self) -> Sequence[ListRow]:
        problems = self.session.live.problems
        if self._listed != (problems, len(problems)):
            order = sorted(problems, key=lambda it: (not it.fatal, it.file, it.offset, it.reason))
            self._problems = {f"{it.file}\n{it.offset}\n{it.line}\n{it.reason}": it for it in order}
            self._rows = [self._row(key, problem) for key, problem in self._problems.items()]
            self._listed = problems, len(problems)
        return self._rows

    def _row(self, key: str, problem: Problem) -> ListRow:
        styles = self.text_styles
        glyph, tone = (FAILED, styles.bad) if problem.fatal else ("!", styles.warn)
        where = visible_line(f"{problem.file}:{problem.line}")
        return ListRow(
            key, ((f"{glyph} ", tone), (where, styles.text)), (), ((visible_line(problem.reason), styles.muted),)
        )

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        problem = self._problems.get(key)
        if problem is None:
            return FactPage([])
        if self._raw is not None and self._raw[0] != key:
            self._raw = None
        if self._raw is None and key != self._reading:
            self._reading = key
            self._read_line(key, problem)
        return FactPage(
            [
                fact("file", problem.file),
                fact("line", f"{problem.line:,}"),
                fact("offset", f"{problem.offset:,}"),
                fact("problem" if problem.fatal else "warning", problem.reason),
                fact("record", visible_line(self._raw[1]) if self._raw is not None else "…"),
            ]
        )

    @work(group="text", exit_on_error=False)
    async def _read_line(self, key: str, problem: Problem) -> None:
        try:
            data = await asyncio.to_thread(raw_line, self.session.store.url, problem, LONGEST_LINE)
        except StoreError as error:
            shown = f"({error})"
        else:
            shown = visible(data.decode("utf-8", "backslashreplace")) + ("…" if len(data) == LONGEST_LINE else "")
        if key == self._reading:  # the cursor may have gone on meanwhile
            self._raw, self._reading = (key, shown), ""
            self.tell_about()

    def action_enter(self) -> None:
        """Say that there is nowhere to go: these lines have no message."""
        self.tell("This line has no message")
