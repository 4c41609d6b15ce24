"""How each figure grows with the size of the mailbox: a table, and a chart of small panels for the page."""

from __future__ import annotations

from math import ceil, floor, log10
from textwrap import wrap
from xml.sax.saxutils import escape

from benchmarks.measure import BESIDE, Results, Value, short, table

FLAT = 1.25
WHY = {
    "`wc -l`": "every byte is read",
    "everything read, cold": "every record is read once; below 10,000 messages the start of the program is most of it",
    "fold in a library, cold": "every record is read once",
    "fold in a library, warm": "what was kept is loaded, a fixed number of bytes a message",
    "everything read, warm": "what was kept is loaded, a fixed number of bytes a message",
    "everything read, grown by 1,000": "as warm",
    "first 50 hits, an absent word": "every text is looked at",
    "typed to hits on the screen, an absent word": "every text is looked at",
    "making an index of words": "every byte is read",
    "size of the index of words": "each word has a bit for each part of the file",
    "ripgrep, a common word": "every byte is read",
    "ripgrep, an absent word": "every byte is read",
    "read --unread --json, cold": "every record is read once",
    "read --unread --json, again": "the answer does, and what was kept is loaded",
    "decoding the file with json": "every record is read once",
    "opening a thread": "each reply has a place in the tree",
}
"""Why a figure grows, if that is inherent."""

WIDTH, HEIGHT, COLUMNS = 236, 192, 4
LEFT, TOP, PLOT, TALL, EDGE = 46, 48, 176, 108, 10
TITLE = 36
"""Characters per line of a panel's title, which has two lines."""

DECADES = 4
MARGIN = 0.5
"""The share of a decade left free beside the first point for its label."""

INK, FAINT, FLAT_COLOUR, GROWING = "#1f2430", "#d5d9e0", "#1f6fb2", "#c2410c"


def series(results: Results) -> dict[str, dict[int, Value]]:
    """Return our own figures measured at more than one size and above zero at each."""
    return {
        name: dict(sorted(values.items()))
        for name, values in results.values.items()
        if len(values) > 1 and not name.startswith(BESIDE) and any(value.value for value in values.values())
    }


def grown(values: dict[int, Value]) -> tuple[float, float]:
    """Return the ratio of the last value to the first, and the power of the size which that is."""
    small, large = min(values), max(values)
    first, last = values[small], values[large]
    times = last.value / first.value if first.value else 1.0
    return times, log10(max(times, 1e-9)) / log10(large / small)


def word(name: str, values: dict[int, Value]) -> str:
    """Return how a figure grows, and why."""
    times, power = grown(values)
    if times <= FLAT:
        return "flat" if times >= 1 / FLAT else "falls"
    how = "grows as the mailbox" if power > 0.8 else f"grows, {short(times)} × in all"
    return f"{how}: {WHY[name]}" if name in WHY else how


def report(results: Results) -> str:
    """Return a table of all figures measured at several sizes; those of threads in a second table."""
    found = series(results)
    mailboxes = {name: values for name, values in found.items() if not _is_of_threads(values)}
    threads = {name: values for name, values in found.items() if name not in mailboxes}
    return f"{_report('messages in the mailbox', mailboxes)}\n{_report('replies in the thread', threads)}"


def _report(what: str, found: dict[str, dict[int, Value]]) -> str:
    sizes = sorted({size for values in found.values() for size in values})
    rows = [
        (
            f"{name} ({next(iter(values.values())).unit or 'a second'})",
            *(short(values[size].value) if size in values else "" for size in sizes),
            word(name, values),
        )
        for name, values in found.items()
    ]
    return table((what, *(f"{size:,}" for size in sizes), "growth"), rows) if rows else ""


def chart(results: Results) -> str:
    """Draw one panel per figure, both axes logarithmic with the same scale; flat ones in blue."""
    panels = [panel(at, name, values) for at, (name, values) in enumerate(series(results).items())]
    width, height = COLUMNS * WIDTH, ceil(len(panels) / COLUMNS) * HEIGHT + 30
    legend = (
        f'<text x="{LEFT}" y="{height - 10}">messages to the right, both axes logarithmic, four decades each; '
        f'<tspan fill="{FLAT_COLOUR}">blue: flat, or falls</tspan>, <tspan fill="{GROWING}">orange: grows</tspan>; '
        "the grey line grows as the mailbox</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="10" fill="{INK}"><rect width="{width}" height="{height}" fill="white"/>\n'
        + "\n".join((*panels, legend))
        + "\n</svg>\n"
    )


def panel(at: int, name: str, values: dict[int, Value]) -> str:
    """Draw one figure: its name, its line, and each value beside its point."""
    numbers = [max(value.value, 1e-9) for value in values.values()]
    middle = (log10(min(numbers)) + log10(max(numbers))) / 2
    low, left = floor(middle * 2) / 2 - DECADES / 2, 1 if _is_of_threads(values) else 3

    def x(size: float) -> float:
        return LEFT + PLOT * (log10(size) - left + MARGIN) / DECADES

    def y(value: float) -> float:
        return TOP + TALL * (1 - (log10(value) - low) / DECADES)

    times, _ = grown(values)
    colour = FLAT_COLOUR if times <= FLAT else GROWING
    points = [(x(size), y(max(value.value, 1e-9)), value) for size, value in values.items()]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in points)
    ticks = [10**power for power in range(ceil(low), floor(low + DECADES) + 1)]
    sizes = [10**power for power in range(left, left + DECADES)]
    unit = next(iter(values.values())).unit or "a second"
    unit += ", replies to the right" if _is_of_threads(values) else ""
    titles = wrap(name, TITLE)
    drawn = [
        f'<g transform="translate({at % COLUMNS * WIDTH},{at // COLUMNS * HEIGHT})">',
        *(
            f'<text x="{EDGE}" y="{y}" font-weight="bold">{escape(line)}</text>'
            for y, line in zip((14, 26), titles, strict=False)
        ),
        f'<text x="{EDGE}" y="{14 + 12 * len(titles)}" fill="#5b6270">{escape(unit)}</text>',
        *(f'<path d="M{LEFT} {y(tick):.1f}h{PLOT}" stroke="{FAINT}"/>' for tick in ticks),
        *(f'<text x="{LEFT - 4}" y="{y(tick) + 3:.1f}" text-anchor="end">{_size(tick)}</text>' for tick in ticks),
        *(f'<text x="{x(size):.1f}" y="{TOP + TALL + 14}" text-anchor="middle">{_size(size)}</text>' for size in sizes),
        f'<path d="M{LEFT} {TOP + TALL}L{LEFT + PLOT} {TOP}" stroke="{FAINT}" stroke-dasharray="3 3"/>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b, _ in points),
        *(
            f'<text x="{a:.1f}" y="{b - 7:.1f}" text-anchor="middle" fill="{colour}" stroke="white" stroke-width="3" '
            f'paint-order="stroke">{short(value.value)}</text>'
            for a, b, value in points
        ),
        "</g>",
    ]
    return "\n".join(drawn)


def _is_of_threads(values: dict[int, Value]) -> bool:
    return min(values) < 1_000


def _size(size: float) -> str:
    return f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k" if size >= 1e3 else f"{size:g}"
