"""The table of agents: what each sent and read over time, what it has not read and not answered, and how fast it is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.overview.model import AgentLine, OverviewModel, hot_symbol
from console.overview.words import FEW, median_words
from console.panes.list_rows import layout_line
from console.panes.overview.table_rows import Cell, Column, TableRows, heading, pieces
from console.render.short_text import age, count
from console.widgets.charts import grouped, sparkline
from console.widgets.rows import RowStyle
from console.words.agent_words import context_words, is_full, token_words
from console.words.styles import TextStyles
from mailstore.overview.picture import AgentTraffic, Median
from mailstore.records.details import HOURS

USED = (
    Column("context", "context", 7, 3),
    Column("by-hour", "24 hours", 8, 8, grows=1, most=HOURS),
    Column("tokens", "tokens", 6, 4),
)


def _columns(model: OverviewModel) -> list[Column]:
    longest = max((cell_len(model.label(agent.key)) for agent in model.agents), default=8)
    bars = model.bars.number
    return [
        Column("glyph", "", 1),
        Column("hot", "", 1),
        Column("name", "agent", 12, grows=2, most=max(12, min(30, longest)), is_left=True),
        Column("sent", "sent", 8, grows=3, most=max(8, min(48, bars))),
        Column("sent-number", "", 5),
        Column("read", "read", 8, 7, grows=3, most=max(8, min(48, bars))),
        Column("read-number", "", 6, 4),
        Column("unread", "unread", 6, 1),
        Column("asked", "asked", 5, 2),
        Column("to-read", "to read", 7, 6),
        Column("to-answer", "to answer", 9, 5),
        *(USED if any(agent.usage is not None for agent in model.agents) else ()),
    ]


class AgentRows(TableRows[AgentLine]):
    """The agents as a source for the virtual list."""

    def __init__(self, model: OverviewModel, styles: TextStyles) -> None:
        super().__init__(model.agents, _columns(model), model, styles)

    def heading(self, width: int, base: Style) -> Strip:
        """Return the line above the table."""
        columns = self.columns(width)
        if "read" not in {column.key for column in columns}:
            columns = [column._replace(title="read") if column.key == "read-number" else column for column in columns]
        return layout_line(heading(columns, self._styles.muted), [], width, base)

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        line, columns = self.rows[index], self.columns(width)
        return [layout_line(pieces(columns, self._cells(line, columns), self._styles.text), [], width, style.base)]

    def _cells(self, line: AgentLine, columns: Sequence[Column]) -> dict[str, Cell]:
        styles, traffic, moment = self._styles, line.traffic, self._model.picture.moment
        widths = {column.key: column.width for column in columns}
        sent, read = traffic.all_sent, traffic.all_read
        is_silent = not sent and not read
        name = styles.muted if is_silent and not line.unread else styles.text
        hot = hot_symbol(line.hot) if line.hot is not None else None
        return {
            "glyph": Cell(line.symbol.glyph, getattr(styles, line.symbol.colour)),
            "name": Cell(self._model.label(line.key), name),
            "hot": Cell(hot.glyph, getattr(styles, hot.colour)) if hot is not None else Cell("", name),
            "sent": Cell(sparkline(traffic.sent, widths["sent"], self._top_of(widths["sent"])), styles.accent),
            "sent-number": Cell(count(sent) if sent else "·", styles.text if sent else styles.muted),
            "read": Cell(
                sparkline(traffic.read, widths.get("read", 0), self._top_of(widths.get("read", widths["sent"]))),
                styles.good,
            ),
            "read-number": Cell(count(read) if read else "·", styles.text if read else styles.muted),
            "unread": _unread(line.unread, styles),
            "asked": _asked(line, moment, styles),
            "to-read": _median(traffic.to_read, styles),
            "to-answer": _median(traffic.to_answer, styles),
            **self._used(line, widths.get("by-hour", 0)),
        }

    def _used(self, line: AgentLine, width: int) -> dict[str, Cell]:
        """Return the cells about what an agent has used: its last 24 hours are on a scale of their own."""
        styles, usage = self._styles, line.usage
        if usage is None:
            return {}
        context = context_words(usage)
        style = styles.warn if is_full(usage, self._model.full_percent) else styles.text
        hours = sparkline(usage.hours, width, max(grouped(usage.hours, width), default=0)) if width else ""
        tokens = Cell(token_words(usage.tokens), styles.text) if usage.tokens else Cell("·", styles.muted)
        return {"context": Cell(context or "·", style), "by-hour": Cell(hours, styles.accent), "tokens": tokens}

    def _largest(self, width: int) -> int:
        top = 0
        for traffic in sorted((row.traffic for row in self.rows), key=_busier, reverse=True):
            if _busier(traffic) <= top:
                break  # no part of a smaller total can be larger
            top = max(top, *grouped(traffic.sent, width), *grouped(traffic.read, width))
        return top


def _busier(traffic: AgentTraffic) -> int:
    return max(traffic.all_sent, traffic.all_read)


def _unread(unread: int | None, styles: TextStyles) -> Cell:
    if unread is None:
        return Cell("?", styles.muted)
    return Cell(count(unread), styles.strong) if unread else Cell("·", styles.muted)


def _asked(line: AgentLine, moment: float, styles: TextStyles) -> Cell:
    if line.asked is None:
        return Cell("·", styles.muted)
    return Cell(age(moment - line.asked.since), styles.warn)


def _median(median: Median, styles: TextStyles) -> Cell:
    return Cell(median_words(median), styles.text if median.number >= FEW else styles.muted)
