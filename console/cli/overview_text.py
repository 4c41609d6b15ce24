"""The overview as plain text: aligned columns, and lines of block characters that need no colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from console.cli.plain import bold, columns
from console.panes.overview.lengths import length_words, median_words, scale_line
from console.panes.overview.model import AgentLine, OverviewModel, hot_symbol, party_words
from console.panes.overview.words import left_out_words, spot_words, totals
from console.render.short_text import age, clock, count, shorten_middle
from console.widgets.histogram import bar_rows, gutter, round_top
from console.widgets.sparkline import grouped, sparkline
from mailstore.overview.matrix import matrix_of

__all__ = ["overview_text"]

LINE = 24
"""Cells of a line of numbers over time."""
HEIGHT = 4
MOST_SENDERS, MOST_RECIPIENTS = 12, 8
LONGEST_NAME = 16


def overview_text(model: OverviewModel, since: str) -> str:
    """Return all sections, with an empty line between them."""
    picture = model.picture
    parts = [f"{bold(f'Overview {since}')}  {totals(model)}", _heartbeat(model), _agents(model), _channels(model)]
    parts += [_matrix(model), _hot(model), left_out_words(picture.left_out)]
    return "\n\n".join(filter(None, parts))


def _heartbeat(model: OverviewModel) -> str:
    picture, bars = model.picture, model.bars
    top = round_top(max(picture.sent, default=0))
    lines = [f"Messages in {length_words(bars.length)}"]
    rows = [*bar_rows(picture.sent, HEIGHT, top), "─" * bars.number]
    lines += [f"{scale}{row}".rstrip() for scale, row in zip(gutter(HEIGHT, top), rows, strict=True)]
    start, left = clock(bars.start, picture.moment), len(gutter(HEIGHT, top)[0])
    lines.append(f"{' ' * left}{start}{'now':>{max(4, bars.number - len(start))}}")
    return "\n".join(lines)


def _agents(model: OverviewModel) -> str:
    if not model.agents:
        return "No agents"
    moment, bars = model.picture.moment, model.bars
    every = [row for it in model.agents for row in (it.traffic.sent, it.traffic.read)]
    top = max((max(grouped(row, LINE), default=0) for row in every), default=0)

    def asked(line: AgentLine) -> str:
        return "" if line.asked is None else age(moment - line.asked.since)

    rows = [
        (
            line.symbol.glyph,
            model.label(line.key),
            sparkline(line.traffic.sent, LINE, top),
            _number(sum(line.traffic.sent)),
            sparkline(line.traffic.read, LINE, top),
            _number(sum(line.traffic.read)),
            "?" if line.unread is None else _number(line.unread),
            asked(line),
            median_words(line.traffic.to_read),
            median_words(line.traffic.to_answer),
            hot_symbol(line.hot).glyph if line.hot is not None else "",
        )
        for line in model.agents
    ]
    heads = ("", "agent", "sent", "", "read", "", "unread", "asked", "to read", "to answer", "hot")
    seconds = -(-bars.number // LINE) * bars.length
    return f"Agents{scale_line(top, seconds)}\n{columns(_right(rows, heads, range(2, 10)), heads)}"


def _channels(model: OverviewModel) -> str:
    if not model.channels:
        return ""
    top = max((max(grouped(it.sent, LINE), default=0) for it in model.channels), default=0)
    rows = [
        (model.label(it.key), sparkline(it.sent, LINE, top), _number(sum(it.sent)), _number(it.senders))
        for it in model.channels
    ]
    heads = ("channel", "sent", "", "senders")
    return f"Channels\n{columns(_right(rows, heads, range(1, 4)), heads)}"


def _matrix(model: OverviewModel) -> str:
    matrix = matrix_of(model.picture.pairs, MOST_SENDERS, MOST_RECIPIENTS)
    if not matrix.senders:
        return ""

    def named(names: tuple[str, ...]) -> str:
        return shorten_middle(party_words(names, model), LONGEST_NAME)

    heads = ("from / to", *map(named, matrix.recipients))
    rows = [
        (named(names), *(_number(number) for number in numbers))
        for names, numbers in zip(matrix.senders, matrix.numbers, strict=True)
    ]
    return f"Who writes to whom\n{columns(_right(rows, heads, range(1, len(heads))), heads)}"


def _hot(model: OverviewModel) -> str:
    spots = model.standing.hot if model.standing is not None else ()
    return "\n".join(["Hot spots", *map(spot_words, spots)]) if spots else ""


def _number(number: int) -> str:
    return count(number) if number else "·"


def _right(rows: Sequence[Sequence[str]], heads: Sequence[str], which: range) -> list[list[str]]:
    """Return rows with some columns padded at the left, so that their numbers are aligned."""
    widths = {at: max(cell_len(heads[at]), *(cell_len(row[at]) for row in rows)) for at in which}
    return [[" " * (widths.get(at, 0) - cell_len(text)) + text for at, text in enumerate(row)] for row in rows]
