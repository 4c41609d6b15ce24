"""Ask until when, or until what, something is snoozed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from console.quiet.marks import KindOfMark, Mark, row_mark
from console.quiet.offers import (
    agents_away,
    begun,
    deadlines_for_thread,
    offers_for_agents,
    offers_for_thread,
    offers_of_time,
    timed,
)
from console.quiet.snooze import Occurrence, Snooze
from console.quiet.times import EXAMPLES, read_due
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.screens.base_screen import BaseScreen
from console.screens.quiet.mark_keeping import MarkKeeping
from mailstore.records.roster import Status

if TYPE_CHECKING:
    from console.session import Session

KEYS = "1234567890"
LONGEST_NAME = 60
Offer = tuple[str, str, Snooze]


def is_awake(session: Session, name: str) -> bool:
    """Say whether an agent lives and was seen lately; unknown while the past is shown."""
    agent = session.live.roster.get(name)
    if agent is None or session.moment is not None or agent.status is not Status.LIVING:
        return False
    presence = session.presence(agent)
    return not (presence.is_stale or presence.is_gone)


class SnoozeMenu:
    """Offers times, what fits the thread, and a typed time; a snooze that lasts can be ended."""

    def __init__(self, screen: BaseScreen[Any], keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping

    def threads(self, roots: Sequence[str]) -> None:
        """Ask for how long to snooze some threads; events are offered for a single one."""
        session = self._screen.session
        mailbox, now = session.live, session.clock()
        starts = {root: begun(mailbox, root, now) for root in roots if mailbox.outline(root) is not None}
        if not starts:
            self._screen.tell("Nothing to snooze here")
            return
        first = next(iter(starts))
        offers = offers_of_time(starts[first], now)
        deadlines: list[Offer] = []
        if len(starts) == 1:
            deadlines = deadlines_for_thread(mailbox, first, starts[first])
            offers += offers_for_thread(mailbox, first, starts[first], lambda name: is_awake(session, name))
        what = f"{len(starts)} threads" if len(starts) > 1 else mailbox.summary(first).subject or "the thread"
        self._ask(what, {(KindOfMark.SNOOZED_THREAD, root): start for root, start in starts.items()}, offers, deadlines)

    def rows(self, rows: Sequence[tuple[str, str]], agents: Sequence[str], what: str) -> None:
        """Ask for how long to snooze rows of attention: a message and what distinguishes the row, and their agents."""
        session = self._screen.session
        now = session.clock()
        start = Snooze(Occurrence.TIME, now)
        away = agents_away(session.live, dict.fromkeys(agents), lambda name: is_awake(session, name))
        offers = [*offers_of_time(start, now), *offers_for_agents(away, start)]
        self._ask(what, {row_mark(message, rest): start for message, rest in rows}, offers)

    def _ask(self, what: str, starts: dict[Mark, Snooze], offers: list[Offer], deadlines: Sequence[Offer] = ()) -> None:
        from console.screens.menu import Menu, MenuChoice

        what, quiet = shorten_end(visible_line(what), LONGEST_NAME), self._screen.session.personal.quiet
        lasting = [mark for mark in starts if mark in quiet]
        choices = [MenuChoice(key, label, note) for key, (label, note, _) in zip(KEYS, offers, strict=False)]
        choices += [MenuChoice(key, f"{label} …") for key, label, _ in deadlines]
        choices.append(MenuChoice("t", "until another time …"))
        if lasting:
            choices.append(MenuChoice("n", "end the snooze now"))

        def answered(at: int | None) -> None:
            if at is None:
                return
            if choices[at].key == "n":
                self._keeping.change(dict.fromkeys(lasting, None), f"No longer snoozed: {what}")
            elif at >= len(offers):
                self._ask_time(
                    what, starts, next((snooze for key, _, snooze in deadlines if key == choices[at].key), None)
                )
            else:
                self._begin(what, starts, offers[at][2])

        self._screen.ask(Menu(f"Snooze {what}", choices, self._screen.text_styles), answered)

    def _ask_time(self, what: str, starts: dict[Mark, Snooze], deadline: Snooze | None) -> None:
        from console.screens.prompt import Prompt

        clock = self._screen.session.clock

        def problem(text: str) -> str:
            return "" if read_due(text, clock()) else f"Can't read this as a future time: write {EXAMPLES}"

        def answered(text: str | None) -> None:
            if text and (due := read_due(text, clock())):
                chosen = timed(next(iter(starts.values())), due) if deadline is None else replace(deadline, due=due)
                self._begin(what, starts, chosen)

        detail = f"Local time: {EXAMPLES}"
        until = "until" if deadline is None else f"{deadline.words(clock())}, or until"
        self._screen.ask(Prompt(f"Snooze {what} {until}", detail=detail, check=problem), answered)

    def _begin(self, what: str, starts: dict[Mark, Snooze], chosen: Snooze) -> None:
        now = self._screen.session.clock()
        changes: dict[Mark, Snooze | bool | None] = {
            mark: timed(start, chosen.due) if chosen.until is Occurrence.TIME else chosen
            for mark, start in starts.items()
        }
        self._keeping.change(changes, f"Snoozed {chosen.words(now)}: {what}")
