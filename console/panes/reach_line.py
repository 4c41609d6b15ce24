"""The line that says whom a message will reach, for whom it will be on hold, and when it expires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.widgets import Static

from console.hooks.waking.hearing import Hearing
from console.render.safe import visible_line
from console.render.short_text import remaining
from console.words.symbols import STALE, STATES
from mailstore.rules.delivery import State
from mailstore.writing.sending import Preview

PARTS = (
    ("unknown", f"{STATES[State.UNKNOWN].glyph} no agent named", "$error"),
    ("dead", f"{STATES[State.DEAD].glyph} dead:", "$error"),
    ("frozen", f"{STATES[State.FROZEN].glyph} on hold, frozen:", "$warning"),
    ("waits", f"{STATES[State.WAITING].glyph} on hold, no holder:", "$warning"),
    ("stale", f"{STALE.glyph} not seen lately:", "$warning"),
    ("woken", "↯ woken by a mention:", "$warning"),
    ("reaches", f"{STATES[State.UNREAD].glyph} reaches", "$success"),
)

MOST_NAMES = 6
PROBLEMS = ("unknown", "dead")
"""What is said first, and in full."""


class ReachLine(Static):
    """A line that is set at every key, and lays the screen out only if its text changed."""

    def show(self, words: Content) -> None:
        """Show a text."""
        if not (isinstance(self.content, Content) and self.content.is_same(words)):
            self.update(words)


def reach_line(
    preview: Preview | None,
    problem: str,
    now: float = 0.0,
    hearing: Mapping[Hearing, Sequence[str]] | None = None,
    pace: Mapping[str, float] | None = None,
) -> Content:
    """Return a preview as text, or the problem that prevents one.

    `hearing` says when agents with hooks hear of the message, and `pace` in how many seconds agents usually read.
    """
    if preview is None:
        return Content.styled(visible_line(problem), "$warning")
    parts: list[Content] = []
    for field, words, style in PARTS:
        names: tuple[str, ...] = getattr(preview, field)
        if names:
            number = f" {len(names)}:" if field == "reaches" and len(names) > 1 else ""
            most = len(names) if field in PROBLEMS else MOST_NAMES
            shown = ", ".join(visible_line(name) for name in names[:most])
            more = f" +{len(names) - most}" if len(names) > most else ""
            parts.append(Content.assemble((f"{words}{number} ", style), f"{shown}{more}"))
            if field == "reaches":
                parts += _hearing(hearing or {}, len(names))
                parts += _forecast([pace[name] for name in names if name in pace] if pace else [])
    if not parts:
        parts.append(Content.styled(f"{STATES[State.UNREAD].glyph} reaches nobody now", "$warning"))
    if preview.expires is None:
        parts.append(Content.styled("never expires", "$muted"))
    else:
        parts.append(Content.styled(f"expires in {remaining(preview.expires - now)}", "$muted"))
    parts.extend(Content.styled(f"! {visible_line(warning)}", "$warning") for warning in preview.warnings)
    return Content(" · ").join(parts)


def _forecast(seconds: Sequence[float]) -> list[Content]:
    """Return in how long those whom a message reaches usually read: the quickest to the slowest."""
    if not seconds:
        return []
    ends = list(dict.fromkeys(remaining(max(60.0, each)) for each in (min(seconds), max(seconds))))
    return [Content.styled(f"usually read in {' to '.join(ends)}", "$muted")]


def _hearing(hearing: Mapping[Hearing, Sequence[str]], reached: int) -> list[Content]:
    """Return when agents hear of the message; by name, unless all whom it reaches hear of it alike."""
    parts = []
    for when, names in hearing.items():
        shown = "" if len(names) == reached else f": {', '.join(map(visible_line, names[:MOST_NAMES]))}"
        more = f" +{len(names) - MOST_NAMES}" if shown and len(names) > MOST_NAMES else ""
        parts.append(Content.assemble((when.value, "$success"), f"{shown}{more}"))
    return parts
