"""The card that says what happened while the user was away: a few numbers and names, each of which can be clicked."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip

from console.commands.table import action_of
from console.panes.click_line import ClickLine, Spot
from console.render.safe import visible_line
from console.render.short_text import age, clock, count, plural, shorten_middle
from console.session import Session
from console.words.styles import TextStyles
from console.words.symbols import AGENTS
from mailstore.queries.absence import Absence
from mailstore.records.roster import Status

MOST_NAMES = 4
LONGEST_NAME = 28
"""Cells of a name or a subject on the card."""
ROOMY = 100
"""Cells from which on the heading is written out."""
LIST = action_of("away")
DISMISS = "dismiss_card"


def card_lines(absence: Absence, session: Session, styles: TextStyles) -> list[list[Spot]]:
    """Return the lines of the card: numbers, agents, the busiest threads; those with nothing to say are left out."""
    mailbox = session.mailbox
    numbers = []
    if absence.for_you:
        numbers.append(
            Spot(f"{count(len(absence.for_you))} for you", styles.accent, _go("for-you", absence.for_you[0]))
        )
    if absence.questions:
        words = plural(len(absence.questions), "open question")
        numbers.append(Spot(words, styles.accent, _go("question", absence.questions[0])))
    if absence.dead_letters:
        numbers.append(Spot(plural(len(absence.dead_letters), "dead letter"), styles.bad, action_of("view.dead")))
    total = f"{plural(absence.messages, 'message')} in {plural(absence.threads, 'thread')}"
    numbers.append(Spot(total, styles.text, LIST))
    ended, living = AGENTS[Status.DEAD].glyph, AGENTS[Status.LIVING].glyph
    agents = [Spot(f"{ended} {_short(name)} ended", styles.bad, _go("agent", name)) for name in absence.ended]
    agents += [Spot(f"{living} {_short(name)} appeared", styles.good, _go("agent", name)) for name in absence.appeared]
    busiest = []
    for root, number in [busy for busy in absence.busiest[:3] if busy[1] > 1]:
        message = mailbox.message(root)
        subject = message.subject if message is not None and message.subject else "no subject"
        busiest.append(Spot(f"{_short(subject)} ({count(number)})", styles.text, _go("thread", root)))
    more = [Spot(f"{len(agents) - MOST_NAMES} more agents", styles.muted, LIST)] if len(agents) > MOST_NAMES else []
    lines = [numbers, [*agents[:MOST_NAMES], *more]]
    if busiest:
        lines.append([Spot("busiest: ", styles.muted), *busiest])
    return [_joined(line, styles) for line in lines if line]


def _short(name: str) -> str:
    return shorten_middle(visible_line(name), LONGEST_NAME)


def _go(kind: str, name: str) -> str:
    return f"go_back_to({f'{kind}:{name}'!r})"


def _joined(spots: Sequence[Spot], styles: TextStyles) -> list[Spot]:
    result: list[Spot] = []
    for at, spot in enumerate(spots):
        if at and not spots[at - 1].text.endswith(": "):
            result.append(Spot(" · ", styles.muted))
        result.append(spot)
    return result


class CardLine(ClickLine):
    """One line of the card; the first says what it is, and how to open the list and to dismiss the card."""

    def __init__(self, spots: Sequence[Spot], heads: Sequence[Spot] = (), keys: Sequence[Spot] = ()) -> None:
        super().__init__()
        self._shown = spots
        self._heads = heads
        self._keys = keys

    def render_line(self, y: int) -> Strip:
        """Render the line, with the longer heading where there is room."""
        width = self.size.width
        if y > 0 or not width:
            return Strip.blank(width)
        left = [*self._heads[width < ROOMY :][:1], *self._shown]
        return self.lay_out(left, self._keys if width >= ROOMY else self._keys[-2:], width)


class AwayCard(Vertical):
    """Stands above the columns until it is dismissed; never takes the focus."""

    DEFAULT_CSS = """
    AwayCard { height: auto; width: 100%; background: $surface; padding: 0 1; }
    AwayCard CardLine { height: 1; width: 100%; }
    .-low AwayCard CardLine { display: none; }
    .-low AwayCard CardLine:first-child { display: block; }
    """

    def __init__(self, found: Absence, session: Session, styles: TextStyles, list_key: str, back_key: str) -> None:
        super().__init__()
        ago = age(found.until - found.since)
        heads = [
            Spot(f"While you were away, {ago} since {clock(found.since, found.until)}: ", styles.accent, LIST),
            Spot(f"Away {ago}: ", styles.accent, LIST),
        ]
        keys = [
            Spot(f" {list_key}", styles.accent, LIST),
            Spot(" list  ", styles.muted, LIST),
            Spot(f" {back_key}", styles.accent, DISMISS),
            Spot(" close", styles.muted, DISMISS),
        ]
        first, *others = card_lines(found, session, styles)
        self._lines = [CardLine(first, heads, keys), *(CardLine([Spot("  ", styles.text), *line]) for line in others)]

    def compose(self) -> ComposeResult:
        yield from self._lines
