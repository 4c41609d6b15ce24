"""The overview as plain text: aligned columns, and lines of block characters that need no colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from console.overview.model import AgentLine, OverviewModel, hot_symbol, party_words
from console.overview.words import left_out_words, length_words, median_words, scale_line, spot_words, totals
from console.render.short_text import age, clock, count, shorten_middle
from console.widgets.charts import bar_rows, grouped, gutter, round_top, sparkline
from console.words.agent_words import context_words, token_words

LINE = 24
"""Cells of a line of numbers over time."""
HEIGHT = 4
MOST_SENDERS, MOST_RECIPIENTS = 12, 8
LONGEST_NAME = 16


class TextSection(NamedTuple):
    """Lines of text, and a table below them: headings, and rows whose numbers are aligned."""

    lines: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def overview_text(model: OverviewModel, since: str) -> list[TextSection]:
    """Return all sections that have anything to say."""
    parts = [
        TextSection((f"Overview {since}  {totals(model)}",)),
        _heartbeat(model),
        _agents(model),
        _channels(model),
        _matrix(model),
        _hot(model),
        TextSection(tuple(filter(None, [left_out_words(model.picture.left_out)]))),
    ]
    return [part for part in parts if part.lines or part.rows]


def _heartbeat(model: OverviewModel) -> TextSection:
    picture, bars = model.picture, model.bars
    top = round_top(max(picture.sent, default=0))
    lines = [f"Messages in {length_words(bars.length)}"]
    rows = [*bar_rows(picture.sent, HEIGHT, top), "─" * bars.number]
    lines += [f"{scale}{row}".rstrip() for scale, row in zip(gutter(HEIGHT, top), rows, strict=True)]
    start, left = clock(bars.start, picture.moment), len(gutter(HEIGHT, top)[0])
    lines.append(f"{' ' * left}{start}{'now':>{max(4, bars.number - len(start))}}")
    return TextSection(tuple(lines))


def _agents(model: OverviewModel) -> TextSection:
    if not model.agents:
        return TextSection(("No agents",))
    moment, bars = model.picture.moment, model.bars
    every = [row for agent in model.agents for row in (agent.traffic.sent, agent.traffic.read)]
    top = max((max(grouped(row, LINE), default=0) for row in every), default=0)

    is_used = any(agent.usage is not None for agent in model.agents)

    def asked(line: AgentLine) -> str:
        return "" if line.asked is None else age(moment - line.asked.since)

    rows = [
        (
            line.symbol.glyph,
            model.label(line.key),
            sparkline(line.traffic.sent, LINE, top),
            _number(line.traffic.all_sent),
            sparkline(line.traffic.read, LINE, top),
            _number(line.traffic.all_read),
            "?" if line.unread is None else _number(line.unread),
            asked(line),
            median_words(line.traffic.to_read),
            median_words(line.traffic.to_answer),
            hot_symbol(line.hot).glyph if line.hot is not None else "",
            *(_used(line) if is_used else ()),
        )
        for line in model.agents
    ]
    heads: tuple[str, ...] = ("", "agent", "sent", "", "read", "", "unread", "asked", "to read", "to answer", "hot")
    heads += ("context", "24 hours", "tokens") if is_used else ()
    seconds = -(-bars.number // LINE) * bars.length
    return TextSection(
        (f"Agents{scale_line(top, seconds)}",), heads, _right(rows, heads, [*range(2, 10), *range(11, len(heads))])
    )


def _used(line: AgentLine) -> tuple[str, ...]:
    """Return the cells about what an agent has used."""
    if line.usage is None:
        return "", "", ""
    hours = line.usage.hours
    return (
        context_words(line.usage),
        sparkline(hours, len(hours), max(hours)),
        token_words(line.usage.tokens) if line.usage.tokens else "",
    )


def _channels(model: OverviewModel) -> TextSection:
    if not model.channels:
        return TextSection()
    top = max((max(grouped(channel.sent, LINE), default=0) for channel in model.channels), default=0)
    rows = [
        (
            model.label(channel.key),
            sparkline(channel.sent, LINE, top),
            _number(sum(channel.sent)),
            _number(channel.senders),
        )
        for channel in model.channels
    ]
    heads = ("channel", "sent", "", "senders")
    return TextSection(("Channels",), heads, _right(rows, heads, range(1, 4)))


def _matrix(model: OverviewModel) -> TextSection:
    matrix = model.pairs.matrix(MOST_SENDERS, MOST_RECIPIENTS)
    if not matrix.senders:
        return TextSection()

    def named(names: tuple[str, ...]) -> str:
        return shorten_middle(party_words(names, model), LONGEST_NAME)

    heads = ("from / to", *map(named, matrix.recipients))
    rows = [
        (named(names), *(_number(number) for number in numbers))
        for names, numbers in zip(matrix.senders, matrix.numbers, strict=True)
    ]
    return TextSection(("Who writes to whom",), heads, _right(rows, heads, range(1, len(heads))))


def _hot(model: OverviewModel) -> TextSection:
    spots = model.standing.hot if model.standing is not None else ()
    return TextSection(("Hot spots", *map(spot_words, spots)) if spots else ())


def _number(number: int) -> str:
    return count(number) if number else "·"


def _right(rows: Sequence[Sequence[str]], heads: Sequence[str], which: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return rows with some columns padded at the left, so that their numbers are aligned."""
    widths = {at: max(cell_len(heads[at]), *(cell_len(row[at]) for row in rows)) for at in which}
    return tuple(
        tuple(" " * (widths.get(at, 0) - cell_len(text)) + text for at, text in enumerate(row)) for row in rows
    )
