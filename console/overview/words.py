"""What the overview says in words: lengths of time, totals, what a cell is, and what the picture leaves out."""

from __future__ import annotations

from console.overview.model import OverviewModel, hot_symbol, party_words
from console.render.safe import visible_line
from console.render.short_text import clock, count, plural
from console.widgets.charts import scale_words
from console.words.agent_words import token_words
from console.words.concern_words import line_of
from mailstore.overview.picture import LeftOut, Median
from mailstore.overview.standing import HotSpot

HOUR, DAY = 3600, 86400
FEW = 5
"""Of fewer values than that, a median says of how many it is."""


def totals(model: OverviewModel) -> str:
    """Return how much was sent and read, and since when."""
    picture = model.picture
    since = clock(picture.bars.start, picture.moment)
    return f"{count(sum(picture.sent))} sent · {count(sum(picture.read))} read · since {since}"


def usage_words(model: OverviewModel) -> str:
    """Return how many tokens all agents have used; empty where no program says that."""
    tokens = sum(agent.usage.tokens for agent in model.agents if agent.usage is not None)
    return f" · {token_words(tokens)} tokens in 24 h" if tokens else ""


def bar_words(model: OverviewModel, first: int, last: int) -> str:
    """Return what happened in some bars."""
    bars, picture = model.bars, model.picture
    first, last = max(0, first), min(last, bars.number - 1)
    start, end = bars.edge(first), bars.edge(last + 1)
    sent, read = sum(picture.sent[first : last + 1]), sum(picture.read[first : last + 1])
    until = "now" if last == bars.number - 1 else clock(end, picture.moment)
    if clock(start, start) != clock(start, picture.moment) and until.startswith(clock(start, picture.moment)[:-5]):
        until = until[-5:]
    return f"{clock(start, picture.moment)}–{until} · {count(sent)} sent · {count(read)} read"


def cell_words(model: OverviewModel, senders: tuple[str, ...], recipients: tuple[str, ...], number: int) -> str:
    """Return what a cell of the matrix says."""
    names = visible_line(party_words(senders, model)), visible_line(party_words(recipients, model))
    return f"{names[0]} → {names[1]} · {plural(number, 'message')}"


def spot_words(spot: HotSpot | None) -> str:
    """Return why something is hot."""
    return "" if spot is None else f"{hot_symbol(spot).glyph} {visible_line(line_of(spot.concern))}"


def left_out_words(left: LeftOut) -> str:
    """Return what the picture doesn't count; empty if it counts everything."""
    parts = (
        (left.undated, "message without a time", "messages without a time"),
        (left.later, "message dated in the future", "messages dated in the future"),
        (left.undated_reads, "read without a time", "reads without a time"),
        (left.early_reads, "read dated before its message", "reads dated before their message"),
        (left.early_answers, "answer dated before its question", "answers dated before their question"),
    )
    counts = [f"{count(number)} {one if number == 1 else more}" for number, one, more in parts if number]
    return f"not counted: {', '.join(counts)}" if counts else ""


def length_words(seconds: float) -> str:
    """Return the length of a bar: 5 min, 1.5 h, 7 days."""
    if seconds < HOUR:
        return f"{int(seconds // 60)} min"
    if seconds < DAY:
        return f"{seconds / HOUR:.1f} h".replace(".0", "")
    days = f"{seconds / DAY:.1f}".removesuffix(".0")
    return f"{days} day{'s' * (days != '1')}"


def scale_line(top: int, seconds: float) -> str:
    """Return what the heights of lines mean, for a title; empty if there are no lines."""
    return f" · {scale_words(top)} in {length_words(seconds)}" if top else ""


def duration(seconds: float) -> str:
    """Return a duration in at most three cells: 4s, 12m, 3h, 9d, 6w."""
    for size, unit, most in ((1, "s", 60), (60, "m", 5940), (3600, "h", 172800), (86400, "d", 8640000)):
        if seconds < most:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds // 604800)}w"


def median_words(median: Median) -> str:
    """Return a median, with the number of values if they are few; a dash for none."""
    if median.seconds is None:
        return "–"
    words = duration(median.seconds)
    return words if median.number >= FEW else f"{words} ({median.number})"
