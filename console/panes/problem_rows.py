"""The rows of unreadable lines: where each is, and why it can't be read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from textual.strip import Strip

from console.panes.list_rows import layout_line
from console.render.safe import visible_line
from console.widgets.rows import KeyedRows, RowStyle
from console.words.styles import TextStyles
from console.words.symbols import FAILED
from mailstore.records.message import Problem


class ProblemRow(Struct, frozen=True):
    """A problem, known by where it is and what it is."""

    key: str
    problem: Problem


def problem_rows(problems: Sequence[Problem]) -> list[ProblemRow]:
    """Return problems in order: what can't be read first, then what was read with a warning, by file and place."""
    order = sorted(
        problems, key=lambda problem: (not problem.fatal, problem.file, problem.line, problem.offset, problem.reason)
    )
    keyed = {f"{problem.file}\n{problem.offset}\n{problem.line}\n{problem.reason}": problem for problem in order}
    return [ProblemRow(key, problem) for key, problem in keyed.items()]


class ProblemRows(KeyedRows[ProblemRow]):
    """Rows as a source for the virtual list, of two lines each, or of one where there is little room."""

    def __init__(self, rows: Sequence[ProblemRow], styles: TextStyles, height: int) -> None:
        super().__init__(rows)
        self.row_height = height
        self._styles = styles

    def selectable(self, index: int) -> bool:
        return True

    def content(self, index: int) -> object:
        return self.rows[index], self._styles

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        problem, styles, base = self.rows[index].problem, self._styles, style.base
        glyph, tone = (FAILED, styles.bad) if problem.fatal else ("!", styles.warn)
        where = visible_line(f"{problem.file}:{problem.line}")
        reason = (visible_line(problem.reason), styles.muted)
        head = [("  ", styles.text), (f"{glyph} ", tone), (where, styles.text)]
        if self.row_height == 1:
            return [layout_line([*head, ("  ", styles.text), reason], [], width, base)]
        return [layout_line(head, [], width, base), layout_line([("    ", styles.text), reason], [], width, base)]
