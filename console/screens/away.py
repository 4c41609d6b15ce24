"""Say what happened while the user was away: a card on return, and a list screen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from console.commands.bindings import bindings
from console.commands.table import BY_ID
from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow, Piece
from console.render.safe import visible_line
from console.render.short_text import age, clock, count, plural
from console.running.stepping import stepped
from console.screens.list_screen import ListScreen
from console.screens.mail_screen import MailScreen
from console.session import Session
from console.words.styles import TextStyles
from console.words.symbols import AGENTS, STATES
from mailstore.queries.absence import Absence
from mailstore.records.roster import Status
from mailstore.rules.delivery import State
from mailstore.state.views import View
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.panes.away_card import AwayCard
    from console.session import Session
    from mailstore.queries.absence import Absence
    from mailstore.state.mailbox import Mailbox


async def absence_since(session: Session, since: float, *, is_live: bool) -> Absence | None:
    """Return what happened since a time until now; without `is_live`, until the moment that is shown."""
    while True:
        mailbox = _mailbox(session, is_live)
        try:
            absence = await _look(session, mailbox, since, session.clock() if is_live else session.now())
        except MailboxReloaded:
            continue
        if mailbox is _mailbox(session, is_live):
            return absence


def _mailbox(session: Session, is_live: bool) -> Mailbox:
    return session.live if is_live else session.mailbox


async def _look(session: Session, mailbox: Mailbox, since: float, now: float) -> Absence | None:
    from mailstore.queries.absence import look_back

    absence: Absence | None = None
    async with aclosing(stepped(look_back(mailbox, since, now), session.rest)) as steps:
        async for step in steps:
            absence = step
    return absence


LEFT = "left"
"""The name under which is remembered when the user was last here, in seconds since the epoch."""
SAVED_SECONDS = 60.0
"""How often that is saved while the user works: a terminal that is closed says nothing."""
HOUR, MINUTE = 3600.0, 60.0


class Away:
    """Notices that the user comes back, and shows a card if anything happened meanwhile."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._is_begun = False
        self._key = screen.session.last_key
        self._saved: float | None = None
        self._card: AwayCard | None = None
        self.since: float | None = None
        """Since when the list tells what happened; None if the user was never here before."""

    def ticked(self) -> None:
        """Look whether the user came back; called once a second."""
        session = self._screen.session
        if session.is_loading:
            return
        limits, now, before = session.config.away, session.clock(), self._key
        self._key = session.last_key
        if not self._is_begun:
            self._is_begun = True
            left = session.personal.recall(LEFT)
            if isinstance(left, int | float):
                self._came_back(float(left), now - left, limits.closed_minutes * MINUTE)
        else:
            self._came_back(before, self._key - before, limits.idle_hours * HOUR)
        if self._saved is None or self._key >= self._saved + SAVED_SECONDS:
            self._screen.run_task(self.save_presence(), group="presence")

    async def save_presence(self) -> None:
        """Save that the user is here."""
        session = self._screen.session
        self._saved = self._key
        session.personal.remember(LEFT, session.last_key)
        await asyncio.to_thread(session.personal.save_remembered, LEFT)

    def _came_back(self, left: float, seconds: float, limit: float) -> None:
        """Note since when the user was away; look for what happened if that is long enough (0: never is)."""
        if not self._is_begun or self.since is None or (limit and seconds >= limit):
            self.since = left
        if limit and seconds >= limit:
            self._screen.run_task(self._look(left), group="away", exclusive=True)

    async def _look(self, since: float) -> None:
        absence = await absence_since(self._screen.session, since, is_live=True)
        if absence is not None and not absence.is_empty:
            self._show(absence)

    def _show(self, absence: Absence) -> None:
        from console.panes.away_card import AwayCard

        self.dismiss()
        screen, keymap = self._screen, self._screen.session.keymap
        keys = [BY_ID[command].key_label(keymap) for command in ("away", "back")]
        self._card = AwayCard(absence, screen.session, screen.text_styles, *keys)
        screen.add_above(self._card)

    def dismiss(self) -> bool:
        """Take the card away; return whether there was one."""
        card, self._card = self._card, None
        if card is not None:
            card.remove()
        return card is not None

    def go(self, key: str) -> None:
        """Go to what a row of the list or a part of the card is about."""
        screen, (kind, _, name) = self._screen, key.partition(":")
        if kind == "agent":
            screen.show_view(View("agent", name))
        elif (message := screen.session.mailbox.message(name)) is not None:
            if kind != "thread" and screen.session.mailbox.is_mine(message):
                root = screen.session.mailbox.root_of(name)
                screen.show_view(View("for-you"), root)  # in which reading on goes through all that is for the user
                screen.show_thread(root, name)
            else:
                screen.show_message(name)
            screen.focus_pane("conversation")


class AwayList(ListScreen):
    """Mail to the user, open questions, dead letters, agents that ended or appeared, and the busiest threads."""

    NAME = "away"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles, since: float) -> None:
        super().__init__(session, styles)
        self._since = since
        self._found: Absence | None = None
        self._rows: list[ListRow] = []
        self._drawn_for: tuple[object, ...] = ()

    def on_mount(self) -> None:
        """Look for what happened."""
        super().on_mount()
        self._look()

    @work(group="away", exit_on_error=False)
    async def _look(self) -> None:
        self._found = await absence_since(self.session, self._since, is_live=False)
        self.redraw()

    def heading(self) -> str:
        return f"While you were away · since {clock(self._since, self.session.now())}"

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        absence = self._found
        return (
            "" if absence is None else f"{plural(absence.messages, 'message')} in {plural(absence.threads, 'thread')}"
        )

    def placeholder(self) -> tuple[str, ...]:
        return ("Nothing happened.",) if self._found is not None else ("Looking…",)

    def rows(self) -> Sequence[ListRow]:
        now = self.session.now()
        wanted = (self._found, self.text_styles, now // 60)
        if wanted != self._drawn_for:
            self._drawn_for = wanted
            self._rows = list(self._all_rows(self._found, now)) if self._found is not None else []
        return self._rows

    def _all_rows(self, absence: Absence, now: float) -> Iterator[ListRow]:
        styles = self.text_styles
        dead, ended, living = STATES[State.DEAD].glyph, AGENTS[Status.DEAD].glyph, AGENTS[Status.LIVING].glyph
        for message_id in absence.for_you:
            yield self._message_row("for-you", message_id, (f"{'for you':<12}", styles.accent), now)
        for message_id in absence.questions:
            if message_id not in absence.for_you:
                yield self._message_row("question", message_id, (f"{'question':<12}", styles.accent), now)
        for message_id in dict.fromkeys(message.message_id for message in absence.dead_letters):
            yield self._message_row("letter", message_id, (f"{dead} {'dead':<10}", styles.bad), now)
        roster = self.session.mailbox.roster
        for name in absence.ended:
            agent = roster.get(name)
            since = agent.ended_at if agent is not None else None
            yield self._agent_row(name, (f"{ended} {'ended':<10}", styles.bad), since, now)
        for name in absence.appeared:
            agent = roster.get(name)
            since = agent.started_at if agent is not None else None
            yield self._agent_row(name, (f"{living} {'appeared':<10}", styles.good), since, now)
        for root, number in absence.busiest:
            yield self._message_row("thread", root, (f"{f'{count(number)} new':<12}", styles.muted), now)

    def _message_row(self, kind: str, message_id: str, label: Piece, now: float) -> ListRow:
        styles, mailbox = self.text_styles, self.session.mailbox
        message = mailbox.message(message_id)
        if message is None:
            return ListRow(f"{kind}:{message_id}", (label, ("not in the mailbox any more", styles.muted)))
        who = f"{message.sender} → {', '.join(map(mailbox.label, message.recipients))}"
        return ListRow(
            key=f"{kind}:{message_id}",
            left=(label, (visible_line(message.subject or "(no subject)"), styles.strong)),
            right=((f"{age(now - message.time):>4}", styles.muted),),
            left_below=((" " * 12, styles.muted), (visible_line(who), styles.muted)),
        )

    def _agent_row(self, name: str, label: Piece, since: float | None, now: float) -> ListRow:
        styles = self.text_styles
        agent = self.session.mailbox.roster.get(name)
        role = agent.role if agent is not None and agent.role else "no role"
        return ListRow(
            key=f"agent:{name}",
            left=(label, (visible_line(name), styles.strong)),
            right=((f"{age(now - since):>4}" if since is not None else "", styles.muted),),
            left_below=((" " * 12, styles.muted), (visible_line(role), styles.muted)),
        )

    def target(self, key: str) -> str | None:
        kind, _, name = key.partition(":")
        return None if kind == "agent" else name

    def about(self, key: str) -> FactPage:
        kind, _, name = key.partition(":")
        mailbox, now = self.session.mailbox, self.session.now()
        message = mailbox.message(name) if kind != "agent" else None
        if message is not None:
            to = ", ".join(map(mailbox.label, message.recipients))
            told = [("from", message.sender), ("to", to), ("sent", clock(message.time, now))]
            lost = [
                dead_letter
                for dead_letter in (self._found.dead_letters if self._found else ())
                if dead_letter.message_id == name
            ]
            if kind == "letter" and lost:
                told.append(("dead for", ", ".join(lost_message.recipient for lost_message in lost)))
            return facts(told)
        agent = mailbox.roster.get(name) if kind == "agent" else None
        if agent is None:
            return FactPage([])
        told = [("agent", name), ("role", agent.role or "–"), ("tags", ", ".join(agent.tags) or "–")]
        for label, moment in (("began", agent.started_at), ("ended", agent.ended_at)):
            if moment is not None:
                told.append((label, clock(moment, now)))
        return facts(told)

    def enter(self) -> None:
        """Go to the message, thread or agent under the cursor."""
        key = self.listing.cursor_key
        if key is None:
            self.tell("Nothing to go to")
        else:
            self.dismiss(key)
