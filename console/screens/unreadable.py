"""List what can't be read: file, line, reason, and the bytes themselves, escaped or as a hex dump."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.segment import Segment
from textual import work
from textual.binding import BindingType
from textual.strip import Strip

from console.panes.facts import FactPage, fact
from console.panes.list_rows import ListRow, layout_line
from console.render.safe import visible, visible_line
from console.screens.base_screen import Action, bindings
from console.screens.list_screen import ListScreen
from console.session import Session
from console.widgets.rows import KeyedRows, RowStyle
from console.words.styles import TextStyles
from console.words.symbols import FAILED
from mailstore.errors import StoreError
from mailstore.queries.raw_lines import RawRecord, raw_record
from mailstore.records.message import Problem

MOST_BYTES = 16 * 1024
"""Bytes of a record that are shown."""
LOW = 20
"""Lines of a screen below which a row has one line."""
HEX_WIDTHS = ((16, 76), (8, 42), (4, 25))
"""Bytes in a line, and the cells that such a line needs."""


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


class UnreadableList(ListScreen):
    """What can't be read first, then what was read with a warning."""

    NAME = "unreadable"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._listed: tuple[object, int] | None = None
        self._rows: list[ProblemRow] = []
        self._fatal = 0
        self._record: tuple[str, RawRecord | str] | None = None
        """The key of a row, and its record or why there is none to show."""
        self._reading = ""
        self._is_hex = False

    def heading(self) -> str:
        return "Unreadable"

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        doubts = len(self._rows) - self._fatal
        return f"{self._fatal:,} unreadable" + (f" · {doubts:,} warning{'s' * (doubts != 1)}" if doubts else "")

    def placeholder(self) -> tuple[str, ...]:
        return ("Everything can be read.",)

    def row_source(self, rows: Sequence[ListRow]) -> ProblemRows:
        problems = self.session.live.problems
        if self._listed is None or self._listed[0] is not problems or self._listed[1] != len(problems):
            self._rows = problem_rows(problems)
            self._fatal = sum(row.problem.fatal for row in self._rows)
            self._listed = problems, len(problems)
        return ProblemRows(self._rows, self.text_styles, 1 if self.size.height < LOW else 2)

    def keys_listed(self) -> Sequence[str]:
        return [row.key for row in self._rows]

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        source = self.listing.source
        at = source.index(key)
        if at is None or not isinstance(source, ProblemRows):
            return FactPage([])
        problem = source.rows[at].problem
        if self._record is not None and self._record[0] != key:
            self._record = None
        if self._record is None and key != self._reading:
            self._reading = key
            self._read(key, problem)
        page = [
            fact("file", problem.file),
            fact("line", f"{problem.line:,}"),
            fact("offset", f"{problem.offset:,}"),
            fact("problem" if problem.fatal else "warning", problem.reason),
        ]
        if self._record is None:
            return FactPage([*page, fact("record", "…")])
        record = self._record[1]
        if isinstance(record, str):
            return FactPage([*page, fact("record", f"({record})")])
        shown = "" if record.size <= len(record.data) else f", the first {len(record.data):,} shown"
        page.append(fact("size", f"{'more than ' * record.is_longer}{record.size:,} bytes{shown}"))
        if self._is_hex:
            return FactPage(page, [Strip([]), *self._dump(record.data, problem.offset)])
        return FactPage([*page, fact("record", visible(record.data.decode("utf-8", "backslashreplace")))])

    def _dump(self, data: bytes, start: int) -> list[Strip]:
        lines = hex_lines(data, self._about_width, start)
        return [Strip([Segment(line, self.text_styles.text)]) for line in lines]

    @work(group="text", exit_on_error=False)
    async def _read(self, key: str, problem: Problem) -> None:
        try:
            record: RawRecord | str = await asyncio.to_thread(self._record_of, problem)
        except StoreError as error:
            record = visible_line(str(error))
        if key == self._reading:  # the cursor may have gone on meanwhile
            self._record, self._reading = (key, record), ""
            self.tell_about()

    def _record_of(self, problem: Problem) -> RawRecord:
        """Return the record of a problem; blocks, raises ContentGone."""
        row = self.session.store.raw_problem(problem)
        if row is not None:
            return RawRecord(row[:MOST_BYTES], len(row))
        return raw_record(self.session.url, problem, MOST_BYTES)

    def actions(self) -> Mapping[str, Action]:
        return {**super().actions(), "unreadable.hex": self.toggle_hex}

    def toggle_hex(self) -> None:
        """Show the record as a hex dump, or as text again."""
        self._is_hex = not self._is_hex
        self.tell_about()
        self.tell("Hex dump" if self._is_hex else "Text, with escapes")

    def enter(self) -> None:
        """Say that there is nowhere to go: these lines have no message."""
        self.tell("This line has no message")


def hex_lines(data: bytes, width: int, start: int = 0) -> list[str]:
    """Return bytes as lines of at most `width` cells (25 at least); `start` is the place of the first byte."""
    number = next((number for number, cells in HEX_WIDTHS if cells <= width), HEX_WIDTHS[-1][0])
    lines = []
    for at in range(0, len(data), number):
        part = data[at : at + number]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in part)
        lines.append(f"{start + at:08x} {part.hex(' '):<{3 * number}} {shown}")
    return lines
