"""What needs the person's attention, each with its reason and the way there."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from console.commands import bindings
from console.ink import Ink
from console.panes.sheet_rows import SheetRow
from console.render.safe import visible_line
from console.render.text import age, clock
from console.screens.sheet import Sheet
from console.session import Session
from mailstore.attention import Concern, Trouble, attention

__all__ = ["NeedsAttention"]

SECONDS = 2.0
COST = 30
"""Looking takes a thirtieth of the time at most, however large the mailbox is."""

KINDS = {
    Trouble.QUESTION: ("?", "accent", "a question that nobody answered"),
    Trouble.STALLED: ("◐", "warn", "a living agent that may have stopped reading"),
    Trouble.VACANT: ("…", "warn", "a role that mail waits for and nobody holds"),
    Trouble.LOOP: ("↻", "bad", "two agents that do nothing but answer each other"),
    Trouble.DEAD_ADDRESSEE: ("✕", "bad", "mail to an agent after its death"),
    Trouble.STRANGER: ("!", "warn", "a sender that nobody registered"),
    Trouble.GROWTH: ("▲", "bad", "more dead letters than before"),
}


class NeedsAttention(Sheet):
    """Concerns, the most pressing first; enter goes to the message that shows each."""

    NAME = "attention"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, ink: Ink) -> None:
        super().__init__(session, ink)
        self._concerns: dict[str, Concern] = {}
        self._next_look = 0.0

    def on_mount(self) -> None:
        """Look again as time passes: most concerns are about what did not happen."""
        super().on_mount()
        self.set_interval(SECONDS, self.redraw)

    def heading(self) -> str:
        return "Needs attention"

    def placeholder(self) -> tuple[str, ...]:
        return (
            "Nothing needs attention.",
            "",
            "No question is left unanswered, nobody has stopped reading,",
            "every role that has mail is held, and nobody runs in circles.",
        )

    def rows(self) -> Sequence[SheetRow]:
        now = self.session.now()
        start = monotonic()
        if start >= self._next_look:
            found = attention(self.session.mailbox, now, self.session.config.attention.limits())
            self._concerns = {concern.key: concern for concern in found}
            end = monotonic()
            self._next_look = end + max(SECONDS / 2, COST * (end - start))
        return [self._row(key, concern, now) for key, concern in self._concerns.items()]

    def _row(self, key: str, concern: Concern, now: float) -> SheetRow:
        ink = self.ink
        glyph, tone, _ = KINDS[concern.trouble]
        return SheetRow(
            key=key,
            left=((f"{glyph} ", getattr(ink, tone)), (visible_line(concern.who), ink.strong)),
            right=((f"{age(now - concern.since):>4}", ink.muted),),
            left_below=((visible_line(concern.reason), ink.text),),
        )

    def target(self, key: str) -> str | None:
        concern = self._concerns.get(key)
        return concern.message_id if concern is not None else None

    def about(self, key: str) -> Content:
        concern = self._concerns.get(key)
        if concern is None:
            return Content("")
        message = self.session.mailbox.message(concern.message_id or "")
        facts = [
            ("what", KINDS[concern.trouble][2]),
            ("who", concern.who),
            ("why", concern.reason),
            ("since", clock(concern.since, self.session.now())),
            ("subject", message.subject if message is not None else "–"),
        ]
        return Content("\n").join(
            Content.assemble((f"{name:>9}  ", "$muted"), visible_line(value)) for name, value in facts
        )
