"""Say what happened while the user was away."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from console.commands.table import BY_ID
from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen
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
