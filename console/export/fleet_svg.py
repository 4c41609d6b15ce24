"""A picture of the fleet's traffic as inline SVG: the figures of the overview (docs/overview.md), as text and bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from math import sqrt

from msgspec import Struct

from console.render.safe import visible_line
from console.render.short_text import age, count, shorten_middle
from console.words.concern_words import line_of, symbol_of
from mailstore.overview.matrix import matrix_of
from mailstore.overview.picture import AgentTraffic, Median, TrafficPicture
from mailstore.overview.standing import FleetStanding

STYLE = """
.fleet { width: 100%; height: auto; font: 12px ui-monospace, monospace; color: #1d2733 }
.fleet text { fill: currentColor } .fleet .faint { fill: #6b7a89 } .fleet .head { font-weight: bold }
.fleet .sent { fill: #b8681c } .fleet .read { fill: #2e7d4f } .fleet .hot { fill: #b3261e }
.fleet .rule { stroke: #cfd6de }
.fleet .cell { fill: #b8681c } .fleet .end { text-anchor: end }
@media (prefers-color-scheme: dark) { .fleet { color: #cfd6de } .fleet .faint { fill: #8593a1 }
  .fleet .sent, .fleet .cell { fill: #f1a65a } .fleet .read { fill: #7fb77e } .fleet .hot { fill: #e5737a }
  .fleet .rule { stroke: #2a3542 } }
"""
WIDTH, ROW, LEFT = 840, 20, 170
LINE = 160
"""The width of a line of numbers over time."""
HEIGHT = 90
"""The height of the heartbeat."""
MOST_SENDERS, MOST_RECIPIENTS = 16, 9
CELL = 70


class FleetFigures(Struct, frozen=True):
    """What the picture shows; `unread` only where it belongs to the document, None where reads are not recorded."""

    picture: TrafficPicture
    standing: FleetStanding
    labels: Mapping[str, str]
    unread: Mapping[str, int | None]


def fleet_svg(figures: FleetFigures) -> Iterator[str]:
    """Yield the picture and the list of hot spots as HTML; nothing for a picture without traffic."""
    picture = figures.picture
    if not any(picture.sent):
        return
    parts: list[str] = []
    bottom = _heartbeat(parts, figures, 20)
    bottom = _agents(parts, figures, bottom + 30)
    bottom = _channels(parts, figures, bottom + 30)
    bottom = _matrix(parts, figures, bottom + 30)
    words = (
        f"{_plural(sum(picture.sent), 'message')} and {_plural(sum(picture.read), 'read')}"
        f" by {_plural(len(picture.agents), 'party', 'parties')},"
        f" {_time(picture.bars.start)} to {_time(picture.moment)}"
    )
    yield (
        f'<svg class="fleet" viewBox="0 0 {WIDTH} {bottom + 10}" role="img" aria-labelledby="fleet-title fleet-desc">\n'
        f'<title id="fleet-title">The fleet\'s traffic</title>\n<desc id="fleet-desc">{_text(words)}</desc>\n'
    )
    yield from parts
    yield "</svg>\n"
    if figures.unread and figures.standing.hot:
        yield "<h2>Hot spots</h2>\n<ul>\n"
        for spot in figures.standing.hot:
            yield f"<li>{_text(f'{symbol_of(spot.concern).glyph} {line_of(spot.concern)}')}</li>\n"
        yield "</ul>\n"


def _heartbeat(parts: list[str], figures: FleetFigures, top: int) -> int:
    """Draw the messages by time and mark where hot spots began; return where it ends."""
    picture, bars = figures.picture, figures.picture.bars
    base, most = top + HEIGHT, max(picture.sent)
    parts.append(_at(0, top - 6, f"Messages over time, at most {count(most)} in a bar", "head"))
    parts.append(f'<path class="sent" d="{_bars(picture.sent, 0, base, WIDTH, HEIGHT - 10, most)}"/>\n')
    parts.append(f'<line class="rule" x1="0" y1="{base}" x2="{WIDTH}" y2="{base}"/>\n')
    for bar, spot in figures.standing.by_bar(bars).items() if figures.unread else ():
        x = (bar + 0.5) * WIDTH / bars.number
        title = f"<title>{_text(line_of(spot.concern))}</title>"
        glyph = _text(symbol_of(spot.concern).glyph)
        parts.append(f'<text class="hot" x="{x:.1f}" y="{base + 13}" text-anchor="middle">{title}{glyph}</text>\n')
    parts.append(_at(0, base + 28, _time(bars.start), "faint"))
    parts.append(_at(WIDTH, base + 28, _time(picture.moment), "faint end"))
    return base + 30


def _agents(parts: list[str], figures: FleetFigures, top: int) -> int:
    picture, moment = figures.picture, figures.picture.moment
    most = max((max(*agent.sent, *agent.read) for agent in picture.agents), default=0)
    places = {"sent": LEFT + LINE + 40, "read": LEFT + 2 * LINE + 95}
    ends = {"unread": 650, "asked": 700, "to read": 765, "to answer": WIDTH}
    parts.append(_at(0, top, f"Agents, at most {count(most)} in a bar", "head"))
    for name, x in (*places.items(), *ends.items()):
        parts.append(_at(x, top, name, "faint end"))
    for number, traffic in enumerate(picture.agents):
        y = top + ROW * (number + 1)
        hot = figures.standing.of(traffic.name) if figures.unread else None
        if hot is not None:
            parts.append(_at(0, y, symbol_of(hot.concern).glyph, "hot"))
        parts.append(_at(16, y, shorten_middle(_label(figures, traffic.name), 20)))
        parts.append(
            _line(traffic.sent, LEFT, y, most, "sent") + _at(places["sent"], y, _number(sum(traffic.sent)), "end")
        )
        parts.append(_line(traffic.read, places["sent"] + 10, y, most, "read"))
        parts.append(_at(places["read"], y, _number(sum(traffic.read)), "end"))
        parts += _standing(figures, traffic, y, ends, moment)
    return top + ROW * len(picture.agents)


def _standing(
    figures: FleetFigures, traffic: AgentTraffic, y: int, ends: Mapping[str, int], moment: float
) -> Iterator[str]:
    if traffic.name in figures.unread:
        unread = figures.unread[traffic.name]
        yield _at(ends["unread"], y, "?" if unread is None else _number(unread), "end")
    asked = figures.standing.questions.get(traffic.name) if figures.unread else None
    if asked is not None:
        yield _at(ends["asked"], y, age(moment - asked.since), "end")
    yield _at(ends["to read"], y, _median(traffic.to_read), "end")
    yield _at(ends["to answer"], y, _median(traffic.to_answer), "end")


def _channels(parts: list[str], figures: FleetFigures, top: int) -> int:
    channels = figures.picture.channels
    if not channels:
        return top - 30
    most = max(max(channel.sent) for channel in channels)
    parts.append(_at(0, top, f"Channels, at most {count(most)} in a bar", "head"))
    for number, traffic in enumerate(channels):
        y = top + ROW * (number + 1)
        parts.append(_at(16, y, shorten_middle(_label(figures, traffic.tag), 20)))
        parts.append(
            _line(traffic.sent, LEFT, y, most, "sent") + _at(LEFT + LINE + 40, y, _number(sum(traffic.sent)), "end")
        )
        parts.append(_at(LEFT + LINE + 60, y, f"{traffic.senders} sender{'s' * (traffic.senders != 1)}", "faint"))
    return top + ROW * len(channels)


def _matrix(parts: list[str], figures: FleetFigures, top: int) -> int:
    matrix = matrix_of(figures.picture.pairs, MOST_SENDERS, MOST_RECIPIENTS)
    parts.append(_at(0, top, "Who writes to whom", "head"))
    y = top + ROW
    for column, names in enumerate(matrix.recipients):
        parts.append(_at(LEFT + CELL * (column + 1) - 6, y, shorten_middle(_party(figures, names), 8), "faint end"))
    for names, numbers in zip(matrix.senders, matrix.numbers, strict=True):
        y += ROW
        parts.append(_at(16, y, shorten_middle(_party(figures, names), 20)))
        for column, number in enumerate(numbers):
            x = LEFT + CELL * column
            if number:
                shade = min(0.6, 0.6 * sqrt(number / max(1, matrix.most)))
                parts.append(
                    f'<rect class="cell" x="{x + 2}" y="{y - 14}" width="{CELL - 4}" height="{ROW - 2}"'
                    f' fill-opacity="{shade:.2f}"/>\n'
                )
            parts.append(_at(x + CELL - 6, y, _number(number), "end" if number else "faint end"))
    return y + 6


def _party(figures: FleetFigures, names: Sequence[str]) -> str:
    return _label(figures, names[0]) if len(names) == 1 else f"{len(names)} others"


def _label(figures: FleetFigures, name: str) -> str:
    return visible_line(figures.labels.get(name, name))


def _plural(number: int, one: str, more: str = "") -> str:
    return f"{count(number)} {one if number == 1 else more or f'{one}s'}"


def _number(number: int) -> str:
    return count(number) if number else "·"


def _median(median: Median) -> str:
    if median.seconds is None:
        return "–"
    seconds = median.seconds
    words = f"{int(seconds)}s" if seconds < 60 else age(seconds)
    return words if median.number >= 5 else f"{words} ({median.number})"


def _time(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _text(value: str) -> str:
    return escape(visible_line(value))


def _at(x: float, y: float, words: str, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:g}" y="{y:g}">{_text(words)}</text>\n'


def _line(values: Sequence[int], x: float, y: float, most: int, kind: str) -> str:
    """Return numbers as small bars, whose height grows with the square root."""
    steps = [round(1000 * sqrt(value / most)) if most else 0 for value in values]
    return f'<path class="{kind}" d="{_bars(steps, x, y, LINE, 14, 1000)}"/>\n' if any(steps) else ""


def _bars(values: Sequence[int], x: float, base: float, width: float, height: float, most: int) -> str:
    """Return a path of upright bars; where there is a number, at least a little is seen."""
    each = width / len(values)
    return "".join(
        f"M{x + at * each:.1f} {base:g}v{-max(1.5, height * value / most):.1f}h{each * 0.85:.1f}V{base:g}z"
        for at, value in enumerate(values)
        if value
    )
