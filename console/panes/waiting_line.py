"""The line below a message that was not sent yet."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import Piece, layout_line
from console.panes.way_rows import way_line
from console.render.safe import visible_line
from console.words.styles import TextStyles
from console.words.symbols import HELD
from mailstore.records.details import MessageWay, WayState

LONGEST_REASON = 200


def waiting_line(way: MessageWay | None, width: int, styles: TextStyles, now: float) -> Strip:
    """Return that a message waits in an outbox; if it was tried, by what transport, when, and why that failed."""
    left: list[Piece] = [(f"{HELD} ", styles.warn)]
    if way is None:
        return layout_line([*left, ("waits in the outbox", styles.warn)], [], width, Style.null())
    words = "refused" if way.state is WayState.REFUSED else "not sent yet" if way.tries else "waits in the outbox"
    by = f" by {visible_line(way.transport)}" if way.tries else ""
    reason = f": {visible_line(way.reason[:LONGEST_REASON])}" if way.reason else ""
    left.append((f"{words}{by}{reason}", styles.warn))
    left.append((f" · {visible_line(way_line(way, now))}", styles.muted))
    return layout_line(left, [], width, Style.null())
