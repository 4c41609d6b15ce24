"""The line at the top: the mailbox, its connection, its numbers, and the time."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct, field
from rich.style import Style
from textual.events import Click
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from console.panes.row_layout import Piece, layout_line
from console.render.safe import visible_line
from console.render.short_text import clock, count, shorten_middle
from console.session import Session
from console.styles import TextStyles
from console.symbols import CONNECTION
from mailstore.state.views import Counts

__all__ = ["Header", "Headline", "headline"]


class Headline(Struct, frozen=True):
    """What the header shows; `state` is one of live, reading, gone, observing, as of, still."""

    title: str = ""
    state: str = "reading"
    detail: str = ""
    counts: Counts = field(default_factory=Counts)
    drafts: int = 0
    asking: int = 0
    time: float = 0.0


def headline(session: Session, asking: int = 0) -> Headline:
    """Return the headline for the mailbox as it is now, in which so many agents wait for a permission."""
    mailbox = session.mailbox
    state, detail = "live", ""
    if session.moment is not None:
        state, detail = "as of", clock(session.moment, session.clock())
    elif mailbox.gone:
        state, detail = "gone", mailbox.gone
    elif session.is_loading:
        state = "reading"
        if mailbox.progress is not None and mailbox.progress.total:
            detail = f"{100 * mailbox.progress.done // mailbox.progress.total} %"
    elif session.observe:
        state = "observing"
    return Headline(
        title=session.store.title,
        state=state,
        detail=detail,
        counts=mailbox.counts(),
        drafts=session.personal.draft_count,
        asking=asking,
        time=session.clock(),
    )


UNREADABLE = "unreadable"
ROOMY = 140
"""Cells from which on the words that are understood without are added."""


class Header(Widget):
    """One line; if it is narrow, the least important parts are left out first."""

    headline: reactive[Headline] = reactive(Headline)

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles, shown = self.size.width, self.text_styles, self.headline
        if y > 0 or not width:
            return Strip.blank(width)
        time: list[Piece] = [(datetime.fromtimestamp(shown.time).strftime("%H:%M:%S "), styles.muted)]
        glyph, tone = CONNECTION[shown.state]
        words = f"{shown.state} {shown.detail}".strip()
        numbers = self._numbers(shown)
        used = sum(len(text) + 3 for text, _ in numbers) + len(words) + len("  Signalbox  ") + 14
        title = shorten_middle(visible_line(shown.title), max(12, width - used))
        left: list[Piece] = [(" Signalbox ", styles.accent + Style(bold=True)), (f" {title}  ", styles.text)]
        left += [(f"{glyph} ", getattr(styles, tone)), (f"{words}  ", styles.muted)]
        for at, piece in enumerate(numbers):
            left += [(" · ", styles.muted)] if at else []
            left.append(piece)
        return layout_line(left, time, width, self.rich_style)

    async def on_click(self, event: Click) -> None:
        """Open the list of unreadable lines with a click on their number."""
        text = self.render_line(0).text
        end = text.find(f" {UNREADABLE}") + len(UNREADABLE) + 1
        if self.headline.counts.unreadable and text.rfind("·", 0, end) < event.x < end:
            await self.run_action("screen.part('opening', 'unreadable')")

    def _numbers(self, shown: Headline) -> list[Piece]:
        styles, counts, drafts = self.text_styles, shown.counts, shown.drafts
        wide = self.size.width >= 100
        found: list[Piece] = []
        if wide:
            found.append((f"{count(counts.messages)} message{'s' * (counts.messages != 1)}", styles.text))
        if counts.for_you:
            found.append((f"{count(counts.for_you)} for you", styles.accent))
        if shown.asking:
            words = " waiting for a permission" if self.size.width >= ROOMY else " waiting"
            found.append((f"{count(shown.asking)}{words}", styles.bad))
        if counts.unseen and wide:
            found.append((f"{count(counts.unseen)} new", styles.text))
        if counts.dead:
            letters = f" dead letter{'s' * (counts.dead != 1)}" if wide else " dead"
            found.append((f"{count(counts.dead)}{letters}", styles.bad))
        if counts.unreadable:
            found.append((f"{count(counts.unreadable)} {UNREADABLE}", styles.bad))
        if drafts:
            found.append((f"{drafts} draft{'s' * (drafts != 1)}", styles.warn))
        return found
