"""The line at the top: the mailbox, its connection, its numbers, and the time."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct, field
from rich.cells import cell_len
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip

from console.commands.table import action_of
from console.panes.click_line import ClickLine, Spot
from console.render.safe import visible_line
from console.render.short_text import clock, count, shorten_title
from console.session import Session
from console.words.cut_off_words import cut_off_forms
from console.words.styles import TextStyles
from console.words.symbols import CONNECTION
from mailstore.state.views import Counts


class Headline(Struct, frozen=True):
    """What the header shows; `state` is one of live, reading, cut off, observing, as of, still.

    `forms` are the words about what is cut off, the longest first.
    """

    title: str = ""
    state: str = "reading"
    detail: str = ""
    forms: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    attention: int = 0
    drafts: int = 0
    asking: int = 0
    time: float = 0.0


def headline(session: Session, asking: int = 0) -> Headline:
    """Return the headline for the mailbox as it is now, in which so many agents wait for a permission."""
    mailbox = session.mailbox
    state, detail = "live", ""
    forms: list[str] = []
    if session.moment is not None:
        state, detail = "as of", clock(session.moment, session.clock())
    elif lost := mailbox.cut_off():
        state, forms = "cut off", cut_off_forms(lost, len(mailbox.mailboxes()), session.clock())
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
        forms=tuple(forms),
        counts=mailbox.counts(),
        attention=session.attention.number(mailbox),
        drafts=session.personal.draft_count,
        asking=asking,
        time=session.clock(),
    )


TRAVEL, GO_TO_TIME = action_of("travel"), action_of("travel.to")
ATTENTION, DEAD = action_of("attention"), action_of("view.dead")
UNREADABLE, DRAFTS = action_of("unreadable"), action_of("drafts")
ROOMY = 140
"""Cells from which on the words that are understood without are added."""
SHORTEST_TITLE = 12
"""Cells that the mailbox's name needs; dead letters, which attention includes, are named where there are as many."""


def go(view: str) -> str:
    """Return the action that shows a view."""
    return f"go_view({view!r})"


SENTENCES, FULL_FORMS = 80, 2
"""Cells from which on it is said in full what is cut off since when, before numbers; and which forms do that."""
NARROW = 60
"""Cells below which the program's name gives way to numbers, of which attention comes first."""


class Header(ClickLine):
    """One line; if it is narrow, the least important parts are left out first. Clicks open what is named."""

    headline: reactive[Headline] = reactive(Headline)

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles, shown = self.size.width, self.text_styles, self.headline
        if y > 0 or not width:
            return Strip.blank(width)
        clock = datetime.fromtimestamp(shown.time).strftime("%H:%M:%S" if width >= NARROW else "%H:%M")
        time = [Spot(clock, styles.muted, GO_TO_TIME), Spot(" ", styles.muted)]
        glyph, tone = CONNECTION[shown.state]
        words = ""
        numbers: list[Spot] = []
        used = 0
        for words, has_dead in self._forms(shown):
            numbers = self._numbers(shown, has_dead=has_dead)
            used = sum(len(spot.text) + 3 for spot in numbers) + cell_len(words) + len("  Signalbox  ") + 14
            if used + SHORTEST_TITLE <= width:
                break
        title = shorten_title(visible_line(shown.title), max(12 if width >= 100 else 8, width - used))
        name = [Spot(" ", styles.text), Spot("Signalbox", styles.accent + Style(bold=True), "app.command_palette")]
        left = [
            *(name if width >= NARROW else []),
            Spot(f"  {title}  " if width >= NARROW else f" {title}  ", styles.text),
            Spot(f"{glyph} ", getattr(styles, tone), TRAVEL),
            Spot(words, styles.bad if shown.forms else styles.muted, TRAVEL),
            Spot("  ", styles.muted),
        ]
        for at, spot in enumerate(numbers):
            left += [Spot(" · ", styles.muted)] if at else []
            left.append(spot)
        return self.lay_out(left, time, width)

    def _forms(self, shown: Headline) -> list[tuple[str, bool]]:
        """Return the words of the state, and whether dead letters are numbered: what takes most room first."""
        forms = shown.forms or (f"{shown.state} {shown.detail}".strip(),)
        if self.size.width >= SENTENCES:
            forms = forms[:FULL_FORMS]
        return [(words, has_dead) for has_dead in (True, False) for words in forms]

    def _numbers(self, shown: Headline, *, has_dead: bool) -> list[Spot]:
        styles, counts, drafts = self.text_styles, shown.counts, shown.drafts
        wide, roomy = self.size.width >= 100, self.size.width >= ROOMY
        found: list[Spot] = []
        if wide:
            found.append(
                Spot(f"{count(counts.messages)} message{'s' * (counts.messages != 1)}", styles.text, go("all"))
            )
        if counts.for_you:
            found.append(Spot(f"{count(counts.for_you)} for you", styles.accent, go("for-you")))
        if shown.attention:
            need = f" need{'s' * (shown.attention == 1)}" if wide else ""
            words = f"{count(shown.attention)}{need} attention"
            place = len(found) if self.size.width >= NARROW else 0
            found.insert(place, Spot(words, styles.warn, ATTENTION))
        if shown.asking:
            words = " waiting for a permission" if roomy else " waiting"
            found.append(Spot(f"{count(shown.asking)}{words}", styles.bad, ATTENTION))
        if counts.unseen and wide:
            found.append(Spot(f"{count(counts.unseen)} new", styles.text, go("unread")))
        if counts.quiet > counts.snoozed and wide:
            found.append(Spot(f"{count(counts.quiet - counts.snoozed)} muted", styles.muted, go("muted")))
        if counts.dead and (has_dead or not shown.attention):
            messages = f" dead letter{'s' * (counts.dead != 1)}" if wide else " dead"
            found.append(Spot(f"{count(counts.dead)}{messages}", styles.bad, DEAD))
        if counts.unreadable:
            found.append(Spot(f"{count(counts.unreadable)} unreadable", styles.bad, UNREADABLE))
        if drafts:
            found.append(Spot(f"{drafts} draft{'s' * (drafts != 1)}", styles.warn, DRAFTS))
        return found
