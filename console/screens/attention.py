"""List what needs the person's attention, with reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from console.bindings import bindings
from console.concern_words import heading_of, symbol_of
from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.render.short_text import age, clock
from console.screens.list_screen import ListScreen
from console.session import Session
from console.styles import TextStyles
from mailstore.queries.attention import Concern, in_order, look
from mailstore.steps import MailboxReloaded

__all__ = ["NeedsAttention"]

SECONDS = 2.0
COST = 30
"""Searching takes at most one part in so many of the time, however large the mailbox is."""
SLICE_SECONDS = 0.003
"""How long searching may hold up the event loop at a time."""


class NeedsAttention(ListScreen):
    """Concerns, most pressing first; enter goes to the message behind one."""

    NAME = "attention"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._concerns: dict[str, Concern] = {}
        self._has_looked = self._is_looking = False
        self._next_look = 0.0

    def on_mount(self) -> None:
        """Search again as time passes: most concerns are about what did not happen."""
        super().on_mount()
        self.set_interval(SECONDS, self.redraw)

    def heading(self) -> str:
        return "Needs attention"

    def placeholder(self) -> tuple[str, ...]:
        if not self._has_looked:
            return ("Looking…",)
        return (
            "Nothing needs attention.",
            "",
            "No unanswered questions, no agents that stopped reading,",
            "no roles with mail and no holder, no loops.",
        )

    def rows(self) -> Sequence[ListRow]:
        if not self._is_looking and monotonic() >= self._next_look:
            self._is_looking = True
            self._look()
        now = self.session.now()
        return [self._row(key, concern, now) for key, concern in self._concerns.items()]

    @work(group="attention", exit_on_error=False)
    async def _look(self) -> None:
        """Search the mail a few milliseconds at a time, and show what was found."""
        mailbox, limits = self.session.mailbox, self.session.config.attention.limits()
        found: list[Concern] = []
        spent, start = 0.0, monotonic()
        try:
            for concern in look(mailbox, self.session.now(), limits):
                if concern is not None:
                    found.append(concern)
                if (taken := monotonic() - start) > SLICE_SECONDS:
                    spent += taken
                    await asyncio.sleep(0)
                    start = monotonic()
        except MailboxReloaded:  # the next look is of what is there then
            return
        finally:
            self._is_looking = False
            self._next_look = monotonic() + max(SECONDS / 2, COST * (spent + monotonic() - start))
        if mailbox is self.session.mailbox:
            self._has_looked = True
            self._concerns = {concern.key: concern for concern in in_order(found)}
            self.redraw()

    def _row(self, key: str, concern: Concern, now: float) -> ListRow:
        styles = self.text_styles
        glyph, tone = symbol_of(concern)
        return ListRow(
            key=key,
            left=((f"{glyph} ", getattr(styles, tone)), (visible_line(concern.who), styles.strong)),
            right=((f"{age(now - concern.since):>4}", styles.muted),),
            left_below=((visible_line(concern.reason), styles.text),),
        )

    def target(self, key: str) -> str | None:
        concern = self._concerns.get(key)
        return concern.message_id if concern is not None else None

    def about(self, key: str) -> FactPage:
        concern = self._concerns.get(key)
        if concern is None:
            return FactPage([])
        message = self.session.mailbox.message(concern.message_id or "")
        told = [
            ("what", heading_of(concern)),
            ("who", concern.who),
            ("why", concern.reason),
            ("since", clock(concern.since, self.session.now())),
            ("subject", message.subject if message is not None else "–"),
        ]
        return facts(told)
