"""A recording of a terminal as one SVG file that plays by itself: no script, no font, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from pyte.screens import Char

from screenshots.cast import Frame, Row

CELL, LINE, BASE, FONT = 8.4, 17, 13, 14
"""Sizes in pixels: a column, a line, the part of it above the baseline, a message."""
EDGE, BAR, BAND = 10, 26, 40
"""Sizes in pixels: the space around the screen, the window's bar, and the captions' band."""
LAST = 2.5
"""Seconds for which the last frame stays."""
STILL = 0.2
"""Where the animation stands for those who asked for no motion, as a part of it."""
BACKGROUND, FOREGROUND = "#10151d", "#cdd5df"
FRAME, LAMPS = "#1b2230", ("#e06c75", "#e5c07b", "#98c379")
NAMED = {
    "black": "#3b4252",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#cfd6e0",
}
FAMILY = "ui-monospace,'Cascadia Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


def animated(frames: Sequence[Frame], size: tuple[int, int], title: str) -> str:
    """Return the frames of a recording as an animation."""
    across, screen = round(size[0] * CELL + 2 * EDGE), size[1] * LINE
    step, below = screen + BAND, BAR + screen + 4
    shown = [(_shown(frame), frame.caption) for frame in frames]
    rows = {row: at for at, row in enumerate(dict.fromkeys(row for lines, _ in shown for row in lines))}
    captions = {caption: at for at, caption in enumerate(dict.fromkeys(caption for _, caption in shown))}
    colours: dict[str, str] = {}
    drawings = {row: _drawn(row, colours) for row in rows}
    defined = [f'<g id="r{at}">{drawings[row]}</g>' for row, at in rows.items() if drawings[row]]
    defined += [f'<g id="c{at}">{_captioned(caption)}</g>' for caption, at in captions.items()]
    strip = []
    for at, (lines, caption) in enumerate(shown):
        top = at * step
        strip += [
            f'<use href="#r{rows[row]}" y="{top + y * LINE + BASE}"/>' for y, row in enumerate(lines) if drawings[row]
        ]
        strip.append(f'<use href="#c{captions[caption]}" y="{top + screen}"/>')
    down = below + BAND + EDGE - 4
    lamps = "".join(f'<circle cx="{16 + 18 * at}" cy="11" r="5" fill="{fill}"/>' for at, fill in enumerate(LAMPS))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}">'
        f"<title>{escape(title)}</title><style>{_styles(frames, step, colours)}</style>"
        f'<defs>{"".join(defined)}<clipPath id="w"><path d="M0 0h{across}v{step}H0z"/></clipPath></defs>'
        f'<rect width="{across}" height="{down}" rx="8" fill="{FRAME}"/>'
        f'<path d="M0 {BAR - 4}h{across}V{below}H0z" fill="{BACKGROUND}"/>{lamps}'
        f'<rect class="_p" y="{below}" width="{across}" height="2" fill="#e8a860"/>'
        f'<g transform="translate(0 {BAR})" clip-path="url(#w)"><g class="_s">'
        f'<g transform="translate({EDGE})">{"".join(strip)}</g></g></g></svg>\n'
    )


def _styles(frames: Sequence[Frame], step: int, colours: dict[str, str]) -> str:
    total = frames[-1].when + LAST
    stops = "".join(
        f"{100 * frame.when / total:.3f}%{{transform:translateY(-{at * step}px)}}" for at, frame in enumerate(frames)
    )
    return (
        f"text{{font:{FONT}px {FAMILY};white-space:pre;fill:{FOREGROUND}}}"
        "._b{font-weight:700}._i{font-style:italic}"
        + "".join(f".{name}{{fill:{colour}}}" for colour, name in colours.items())
        + f"._s{{animation:play {total:.2f}s step-end infinite}}@keyframes play{{{stops}}}"
        f"._p{{transform-origin:0 0;animation:pass {total:.2f}s linear infinite}}"
        "@keyframes pass{from{transform:scaleX(0)}}"
        "@media (prefers-reduced-motion:reduce)"
        f"{{._s,._p{{animation-play-state:paused;animation-delay:-{total * STILL:.0f}s}}}}"
    )


def _shown(frame: Frame) -> tuple[Row, ...]:
    """Return the rows of a frame, the cell under the cursor reversed."""
    if frame.cursor is None:
        return frame.rows
    x, y = frame.cursor
    if not (y < len(frame.rows) and x < len(frame.rows[y])):
        return frame.rows
    row = list(frame.rows[y])
    row[x] = row[x]._replace(reverse=not row[x].reverse)
    return (*frame.rows[:y], tuple(row), *frame.rows[y + 1 :])


def _look(cell: Char) -> tuple[str, str, bool, bool]:
    fore, back = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        fore, back = back, fore
    return fore, back, cell.bold, cell.italics


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return NAMED.get(name.removeprefix("bright").replace("bfight", "")) or f"#{name}"


def _drawn(row: Row, colours: dict[str, str]) -> str:
    """Return one line of the screen above the baseline at 0: backgrounds, then texts as long as their cells."""
    looks = [_look(cell) for cell in row]
    drawn, x = [], 0
    for back, cells in groupby(looks, lambda look: look[1]):
        wide = len(list(cells))
        if back != BACKGROUND:
            drawn.append(f'<path d="M{_pixels(x)}-{BASE}h{_pixels(wide)}v{LINE}h-{_pixels(wide)}z" fill="{back}"/>')
        x += wide
    x = 0
    for (fore, bold, italic), run in groupby(zip(row, looks, strict=True), lambda each: (each[1][0], *each[1][2:])):
        texts = [cell.data for cell, _ in run]
        text = "".join(texts)
        if bare := text.strip(" "):
            lead = len(text) - len(text.lstrip(" "))
            wide = len(texts) - lead - (len(text) - lead - len(bare))
            length = f' textLength="{_pixels(wide)}"' if wide > 1 else ""
            names = [colours.setdefault(fore, f"k{len(colours)}")] if fore != FOREGROUND else []
            names += ["_b"] * bold + ["_i"] * italic
            named = f' class="{" ".join(names)}"' if names else ""
            drawn.append(f'<text x="{_pixels(x + lead)}"{length}{named}>{escape(bare)}</text>')
        x += len(texts)
    return "".join(drawn)


def _pixels(cells: int) -> str:
    return f"{cells * CELL:.4g}"


def _captioned(caption: str) -> str:
    keys, _, words = caption.partition("\t")
    drawn, x = "", 0.0
    for key in keys.split():
        wide = len(key) * CELL + 14
        drawn += f'<rect x="{x:.4g}" y="15" width="{wide:.4g}" height="22" rx="4" fill="#2c3648" stroke="#4a566c"/>'
        drawn += f'<text class="_b" x="{x + 7:.4g}" y="31" style="fill:#f0b264">{escape(key)}</text>'
        x += wide + 8
    return drawn + f'<text x="{x + (6 if keys else 0):.4g}" y="31" style="fill:#e6ebf2">{escape(words)}</text>'
