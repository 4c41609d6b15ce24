"""What became of a message: counts in a line, its recipients by state where that is unfolded, and its ways."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from console.panes.facts import Row
from console.panes.list_rows import Piece, layout_line
from console.render.safe import visible_line
from console.render.short_text import clock, shorten_middle
from console.words.styles import TextStyles
from console.words.symbols import DONE, FAILED, HELD, STATES
from mailstore.records.details import MessageWay, WayState
from mailstore.rules.delivery import Standing, State

MOST_LINES = 4

FEW = 4
"""Where one of so many recipients at most ended before reading or is unknown, all are named."""

LABELS = {
    State.READ: "read by",
    State.UNREAD: "unread by",
    State.FROZEN: "on hold, frozen:",
    State.WAITING: "on hold:",
    State.ARCHIVED: "archived, not read by",
    State.UNRECORDED: "reads not recorded:",
    State.EXPIRED: "expired, not read by",
    State.DEAD: "ended before reading:",
    State.UNKNOWN: "no agent named",
    State.UNDELIVERED: "not delivered to",
}
COUNTED = {
    State.UNREAD: "unread",
    State.FROZEN: "frozen",
    State.WAITING: "on hold",
    State.ARCHIVED: "archived",
    State.UNRECORDED: "not recorded",
    State.EXPIRED: "expired",
    State.DEAD: "dead",
    State.UNKNOWN: "unknown",
    State.UNDELIVERED: "not delivered",
}

UNREACHED = "ended, not read by"
"""The label of those who ended before reading mail to a channel, which is not a dead letter."""

Standings = Sequence[tuple[str, Standing]]
SIGNS = {
    WayState.WAITING: (HELD, "$warning"),
    WayState.REFUSED: (FAILED, "$error"),
    WayState.GIVEN_UP: (FAILED, "$error"),
    WayState.TURNED_AWAY: (FAILED, "$error"),
}


def is_alarming(standing: Standing) -> bool:
    """Return whether a recipient is always named: one that did not get it, ended before reading, or is unknown."""
    return standing.is_lost and standing.state in (State.DEAD, State.UNKNOWN, State.UNDELIVERED)


def receipt_lines(
    standings: Standings, width: int, styles: TextStyles, now: float, *, is_unfolded: bool
) -> list[Strip]:
    """Return a line with the counts of several recipients, and the recipients themselves where that is asked for.

    A single recipient is named at once, as are all of a few where one of them ended before reading or is unknown; of
    many, only those are.
    """
    if len(standings) < 2:
        return _by_state(standings, width, styles, now)
    lines = [_counts(standings, width, styles)]
    is_whole = is_unfolded or not has_more_receipts(standings)
    named = standings if is_whole else [standing for standing in standings if is_alarming(standing[1])]
    return lines + _by_state(named, width, styles, now)


def has_more_receipts(standings: Standings) -> bool:
    """Return whether there are several recipients who are not named at once."""
    return len(standings) > 1 and not (
        len(standings) <= FEW and any(is_alarming(standing) for _, standing in standings)
    )


def _counts(standings: Standings, width: int, styles: TextStyles) -> Strip:
    """Return how many of those whose reads are recorded have read, and how many are in each other state."""
    numbers = {state: sum(standing.state is state for _, standing in standings) for state in State}
    is_lost = any(standing.is_lost for _, standing in standings if standing.state is State.DEAD)
    recorded = len(standings) - numbers[State.UNRECORDED]
    parts: list[tuple[State, str, str]] = []
    if numbers[State.READ]:
        parts.append((State.READ, f"{numbers[State.READ]}/{recorded}", ""))
    parts += [(state, str(numbers[state]), word) for state, word in COUNTED.items() if numbers[state]]
    for has_words in (True, False):
        pieces: list[Piece] = []
        for state, number, word in parts:
            pieces += [(" · ", styles.muted)] if pieces else []
            text = f"{STATES[state].glyph} {number}"
            style = styles.muted if state is State.DEAD and not is_lost else styles.states[state]
            pieces.append((f"{text} {word}" if word and has_words else text, style))
        if sum(cell_len(text) for text, _ in pieces) <= width:
            break
    return layout_line(pieces, [], width, Style.null())


def _by_state(standings: Standings, width: int, styles: TextStyles, now: float) -> list[Strip]:
    lines = []
    groups = [(state, LABELS[state], styles.states[state]) for state in State]
    groups.append((State.DEAD, UNREACHED, styles.muted))
    for state, label, style in groups:
        named = [
            (name, standing)
            for name, standing in standings
            if standing.state is state and (label == UNREACHED) is (state is State.DEAD and not standing.is_lost)
        ]
        if not named:
            continue
        head = f"{STATES[state].glyph} {label} "
        words = [_named(name, standing, now) for name, standing in named]
        if state is State.UNDELIVERED or (len(named) == 1 and state is State.WAITING):
            pairs = zip(words, named, strict=True)
            words = [f"{word} · {visible_line(standing.reason)}" for word, (_, standing) in pairs]
        for at, line in enumerate(wrapped(words, width - cell_len(head))):
            left: list[Piece] = [
                (head if at == 0 else " " * cell_len(head), style),
                (line, styles.muted),
            ]
            lines.append(layout_line(left, [], width, Style.null()))
    return lines


def _named(name: str, standing: Standing, now: float) -> str:
    shown = shorten_middle(visible_line(name), 24)
    if standing.state is State.READ:
        by = [reader for reader in standing.by if reader != name]
        who = f"{shown} ({', '.join(visible_line(reader) for reader in by)})" if by else shown
        return f"{who} {clock(standing.since, now)}" if standing.since is not None else who
    return shown


def wrapped(words: Sequence[str], width: int, separator: str = ",") -> list[str]:
    """Wrap names at so many cells; after a few lines, count the rest."""
    lines = [""]
    for at, word in enumerate(words):
        piece = word + (separator if at < len(words) - 1 else "")
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(piece) > width:
            if len(lines) == MOST_LINES:
                lines[-1] += f" +{len(words) - at}"
                break
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}".lstrip()
    return lines


def way_rows(ways: Sequence[MessageWay], now: float) -> list[Row]:
    """Return a row for each way: how far the message got, when, how often it was tried, why not, when next."""
    rows: list[Row] = []
    for way in ways:
        sign, style = SIGNS.get(way.state, (DONE, "$success"))
        what = Content.assemble("   ", (sign, style), f" {visible_line(way.transport):<24} {way.state:<14} ")
        reason = f"  {visible_line(way.reason)}" if way.reason else ""
        rows.append((what, Content.assemble(visible_line(way_line(way, now)), (reason, "$muted"))))
    return rows


def way_line(way: MessageWay, now: float) -> str:
    """Return to whom a message went, when, how often it was tried, and when next."""
    words = [way.recipient] if way.recipient else []
    if way.last is not None:
        words.append(clock(way.last, now))
    if way.tries > 1:
        words.append(f"{way.tries} tries")
    if way.next_try is not None:
        words.append("next try now" if way.next_try <= now else f"next try {clock(way.next_try, now)}")
    return " · ".join(words)
