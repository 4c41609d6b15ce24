"""The lines at the composer: whom a message will reach and when it expires, and which message is held for how long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from textual.content import Content
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import Static

from console.commands.table import action_of
from console.hooks.waking.hearing import Hearing
from console.panes.click_line import ClickLine, Spot
from console.render.safe import visible_line
from console.render.short_text import remaining, shorten_end
from console.words.styles import TextStyles
from console.words.symbols import HELD, STALE, STATES
from mailstore.rules.delivery import State
from mailstore.writing.sending import Preview

if TYPE_CHECKING:
    from console.sending.held_messages import HeldMessage

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
LONGEST_NAMES = 24
ROOMY = 70
"""Cells from which on there is room for both actions; the footer names the other one."""
SEND_NOW = action_of("compose.send-now")


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


class HeldLine(ClickLine):
    """The message that is sent next: to whom, in how many seconds, its first words; it can be clicked to act on it."""

    DEFAULT_CSS = "HeldLine { height: 1; width: 100%; background: $surface; }"

    messages: reactive[tuple[HeldMessage, ...]] = reactive(())
    """The held messages; `due` is in how many seconds each is sent."""

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles = self.size.width, self.text_styles
        if y > 0 or not width or not self.messages:
            return Strip.blank(width)
        message = min(self.messages, key=lambda held_message: held_message.due)
        to = shorten_end(visible_line(message.writing.recipients), LONGEST_NAMES)
        more = f" (+{len(self.messages) - 1})" if len(self.messages) > 1 else ""
        left = [
            Spot(f" {HELD} Held {round(message.due)} s{more} ", styles.warn + Style(bold=True)),
            Spot(f"to {to}: ", styles.muted),
            Spot(visible_line(" ".join(message.writing.body[:200].split())), styles.text),
        ]
        undo = [Spot("undo", styles.accent, action_of("undo")), Spot(" · ", styles.muted)]
        right = [*(undo if width >= ROOMY else []), Spot("send now ", styles.accent, SEND_NOW)]
        return self.lay_out(left, right, width)
