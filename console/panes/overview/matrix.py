"""Who writes to whom as a matrix of numbers; a cell at the cursor can be opened."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.message import Message
from textual.strip import Strip

from console.overview.model import OverviewModel, party_words
from console.panes.overview.picture import Picture
from console.panes.overview.table_rows import Cell
from console.render.safe import visible_line
from console.render.short_text import count, shorten_middle
from console.widgets.charts import stepped_headings
from console.widgets.line_view import blank
from console.widgets.rows import placeholder_lines
from console.words.styles import TextStyles
from mailstore.overview.matrix import PairTable, TrafficMatrix
from mailstore.records.protocol import PERSON

CELL = 7
LEAST_NAME, MOST_NAME = 8, 22
Place = tuple[str, str]
"""The first of the senders and of the recipients of a cell."""


class MatrixPane(Picture):
    """Senders down, recipients across; what has no room is added up, and the cursor goes over every cell."""

    class Moved(Message):
        """The cursor was moved, or a cell was chosen."""

        def __init__(self, sender: MatrixPane, *, is_chosen: bool = False) -> None:
            super().__init__()
            self.matrix_pane = sender
            self.is_chosen = is_chosen

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles
        self.model: OverviewModel | None = None
        self.place: Place | None = None
        self._matrix: tuple[object, TrafficMatrix] | None = None

    def show(self, model: OverviewModel) -> None:
        """Show another picture; the cursor stays on the same parties."""
        self.model = model
        self.repaint()

    # Layout

    def _names(self, width: int) -> int:
        """Return the width of the senders' names."""
        return max(LEAST_NAME, min(MOST_NAME, width // 3))

    def _steps(self, height: int) -> int:
        return 1 if height < 6 else 2 if height < 12 else 3

    def matrix(self) -> TrafficMatrix:
        """Return what is shown in the room there is."""
        width, height = self.scrollable_content_region.size
        columns = max(1, (width - self._names(width)) // CELL)
        rows = max(1, height - self._steps(height))
        key = id(self.model), rows, columns
        if self._matrix is None or self._matrix[0] != key:
            pairs = self.model.pairs if self.model is not None else PairTable(())
            self._matrix = key, pairs.matrix(rows, columns)
        return self._matrix[1]

    def cursor(self) -> tuple[int, int]:
        """Return the row and the column of the cursor."""
        matrix = self.matrix()
        if self.place is None:
            return 0, 0
        sender, recipient = self.place
        row = next((at for at, names in enumerate(matrix.senders) if sender in names), 0)
        return row, next((at for at, names in enumerate(matrix.recipients) if recipient in names), 0)

    def cell(self) -> tuple[tuple[str, ...], tuple[str, ...], int] | None:
        """Return the senders, the recipients and the number at the cursor; None if the matrix is empty."""
        matrix = self.matrix()
        if not matrix.senders:
            return None
        row, column = self.cursor()
        return matrix.senders[row], matrix.recipients[column], matrix.numbers[row][column]

    def move(self, down: int, right: int) -> None:
        """Move the cursor by rows and columns, as far as there are any."""
        row, column = self.cursor()
        self._go(row + down, column + right)

    def _go(self, row: int, column: int) -> None:
        matrix = self.matrix()
        if not matrix.senders:
            return
        row = min(len(matrix.senders) - 1, max(0, row))
        column = min(len(matrix.recipients) - 1, max(0, column))
        self.place = matrix.senders[row][0], matrix.recipients[column][0]
        self.repaint()
        self.post_message(self.Moved(self))

    def on_click(self, event: Click) -> None:
        """Move the cursor to the clicked cell; a click on the cell at the cursor chooses it."""
        offset = event.get_content_offset(self)
        if offset is None or self.model is None:
            return
        width, height = self.scrollable_content_region.size
        matrix = self.matrix()
        row, column = offset.y - self._steps(height), (offset.x - self._names(width)) // CELL
        if not (0 <= row < len(matrix.senders) and 0 <= column < len(matrix.recipients)):
            return
        was = self.cursor()
        self._go(row, column)
        if was == (row, column):
            self.post_message(self.Moved(self, is_chosen=True))

    # Drawing

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw headings above and names at the left of the numbers."""
        base, styles, model = self.component_style(), self.text_styles, self.model
        if model is None or not width or not height:
            return [blank(width, base)] * height
        matrix, room, steps = self.matrix(), self._names(width), self._steps(height)
        if not matrix.senders:
            return placeholder_lines(("No messages in this time.",), width, height, base + styles.muted)
        cursor = self.cursor() if self.has_focus else None
        names = [visible_line(party_words(recipient, model)) for recipient in matrix.recipients]
        lines = [
            Strip([Segment(text, base + styles.muted)]).adjust_cell_length(width, base)
            for text in stepped_headings(names, CELL, steps, room)
        ]
        for row, senders in enumerate(matrix.senders):
            name = shorten_middle(visible_line(party_words(senders, model)), room - 1)
            tone = styles.muted if len(senders) > 1 else styles.accent if senders[0] == PERSON else styles.text
            cells = [Segment(name, base + (styles.strong if cursor and cursor[0] == row else tone))]
            line = Strip(cells).adjust_cell_length(room, base)
            for column in range(len(names)):
                cell = self._cell(matrix, row, column)
                style = base + cell.style
                if cursor == (row, column):
                    style += Style(reverse=True)
                text = cell.text.rjust(CELL - 1)
                line = Strip([*line, Segment(" ", base), Segment(text, style)])
            lines.append(line.adjust_cell_length(width, base))
        lines += [blank(width, base)] * (height - len(lines))
        return lines[:height]

    def _cell(self, matrix: TrafficMatrix, row: int, column: int) -> Cell:
        """Return a number: the larger, the brighter; a hot one with the mark of a hot spot."""
        styles, model = self.text_styles, self.model
        number = matrix.numbers[row][column]
        senders, recipients = matrix.senders[row], matrix.recipients[column]
        if not number:
            return Cell("·", styles.muted)
        spot = None
        if model is not None and model.standing is not None and len(senders) == len(recipients) == 1:
            spot = model.standing.between(senders[0], recipients[0])
        if spot is not None:
            return Cell(f"!{count(number)}", styles.warn)
        share = number / max(1, matrix.most)
        return Cell(count(number), styles.accent if share > 0.5 else styles.text if share > 0.1 else styles.muted)
