"""The line at the top: the mailbox, its connection, its numbers, and the time."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

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
ALL = 4


class NumbersForm(NamedTuple):
    """How the numbers stand in a header of some width: with words that are understood without, and which of them.

    Ranks above `rank` are left out: `ALL` is the mail as a whole, 3 drafts, 2 what is for the user, 1 dead letters and
    unreadable lines, 0 what needs attention.
    """

    least_width: int
    is_wordy: bool
    rank: int


NUMBERS_FORMS = (
    NumbersForm(ROOMY, is_wordy=True, rank=ALL),
    NumbersForm(100, is_wordy=True, rank=ALL),
    NumbersForm(0, is_wordy=False, rank=ALL),
    NumbersForm(0, is_wordy=False, rank=3),
    NumbersForm(0, is_wordy=False, rank=2),
    NumbersForm(0, is_wordy=False, rank=1),
)
"""The forms of the numbers, the longest first: words go before numbers do."""


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
        title, least_title = visible_line(shown.title), 12 if width >= 100 else 8
        for words, form in self._forms(shown):
            numbers = self._numbers(shown, form)
            used = sum(len(spot.text) + 3 for spot in numbers) + cell_len(words) + len("  Signalbox  ") + 14
            whole = cell_len(title) if width < 100 and form.rank == ALL else least_title
            if used + max(whole, least_title) <= width:
                break
        is_named = width >= NARROW and used + least_title <= width
        used -= 0 if is_named else len("Signalbox ")
        title = shorten_title(title, max(least_title, width - used))
        name = [Spot(" ", styles.text), Spot("Signalbox", styles.accent + Style(bold=True), "app.command_palette")]
        left = [
            *(name if is_named else []),
            Spot(f"  {title}  " if is_named else f" {title}  ", styles.text),
            Spot(f"{glyph} ", getattr(styles, tone), TRAVEL),
            Spot(words, styles.bad if shown.forms else styles.muted, TRAVEL),
            Spot("  ", styles.muted),
        ]
        for at, spot in enumerate(numbers):
            left += [Spot(" · ", styles.muted)] if at else []
            left.append(spot)
        return self.lay_out(left, time, width)

    def _forms(self, shown: Headline) -> list[tuple[str, NumbersForm]]:
        """Return the words of the state with each form of the numbers, what takes most room first."""
        width, words = self.size.width, shown.forms or (f"{shown.state} {shown.detail}".strip(),)
        if width >= SENTENCES:
            words = words[:FULL_FORMS]
        forms = [form for form in NUMBERS_FORMS if form.least_width <= width]
        return [(said, form) for form in forms for said in words]

    def _numbers(self, shown: Headline, form: NumbersForm) -> list[Spot]:
        """Return the numbers in a form, as they stand."""
        styles, counts, drafts = self.text_styles, shown.counts, shown.drafts
        need = f" need{'s' * (shown.attention == 1)}" * form.is_wordy
        dead = f" dead letter{'s' * (counts.dead != 1)}" if form.is_wordy else " dead"
        permission = " for a permission" * (form.least_width >= ROOMY)
        mail = Spot(f"{count(counts.messages)} message{'s' * (counts.messages != 1)}", styles.text, go("all"))
        rows: list[tuple[int, int, str, Style, str]] = [
            (2, counts.for_you, " for you", styles.accent, go("for-you")),
            (0, shown.attention, f"{need} attention", styles.warn, ATTENTION),
            (0, shown.asking, f" waiting{permission}", styles.bad, ATTENTION),
            (ALL, counts.unseen, " new", styles.text, go("unread")),
            (ALL, counts.quiet - counts.snoozed, " muted", styles.muted, go("muted")),
            (1, counts.dead, dead, styles.bad, DEAD),
            (1, counts.unreadable, " unreadable", styles.bad, UNREADABLE),
            (3, drafts, f" draft{'s' * (drafts != 1)}", styles.warn, DRAFTS),
        ]
        if self.size.width < NARROW:
            rows[:2] = rows[1::-1]
        return [mail] * (form.rank == ALL) + [
            Spot(f"{count(number)}{words}", style, action)
            for rank, number, words, style, action in rows
            if number > 0 and rank <= form.rank
        ]
