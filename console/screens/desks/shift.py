"""A shift: a desk shows one row at a time, and what was done in it is handed over at its end."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from console.concerns import ConcernResult
from console.panes.concern_rows import subject_of
from console.render.safe import visible_line
from console.render.short_text import remaining
from console.screens.mail_screen import MailScreen
from console.session import Session
from console.state.composer_draft import ComposerDraft
from mailstore.errors import MailError
from mailstore.records.message import Intervention
from mailstore.store import Capability

HAND_OVER = "hand-over"
"""The action in the journal, and the beginning of the key of the draft."""
ANSWERED = ("Replied:", "Answered:")
MOST_LINES = 50


class HandOver(Struct, frozen=True):
    """What was done in a shift: so many of each kind, a line for each row, how many are left, and how long it took."""

    numbers: dict[str, int]
    lines: tuple[str, ...]
    left: int
    seconds: float

    @property
    def words(self) -> str:
        """What was done, in a line."""
        done = [f"{number} {what}" for what, number in self.numbers.items()]
        return f"{', '.join([*done, f'{self.left} left'])} in {remaining(max(60.0, self.seconds))}"

    @property
    def text(self) -> str:
        """What was done, as the text of a message."""
        more = len(self.lines) - MOST_LINES
        return "\n".join(
            [f"{self.words}.", "", *self.lines[:MOST_LINES], *([f"- and {more} more"] if more > 0 else [])]
        )


def hand_over(session: Session, results: Sequence[ConcernResult], left: int, seconds: float) -> HandOver:
    """Return what was done in a shift of so many seconds."""
    done = [result for result in results if result.words]
    kinds = Counter(
        "answered" if result.words.startswith(ANSWERED) else result.words.split(" ")[0].lower() for result in done
    )
    lines = (f"- {subject_of(session, result.concern)}: {result.words[0].lower()}{result.words[1:]}" for result in done)
    return HandOver(dict(kinds.most_common()), tuple(map(visible_line, lines)), left, seconds)


class ShiftEnd:
    """Offers to write what was done into the journal, or as a message."""

    def __init__(self, screen: MailScreen, write: Callable[[ComposerDraft], None]) -> None:
        self._screen = screen
        self._write = write

    def offer(self, shift: HandOver) -> None:
        """Ask what is to become of a hand-over."""
        from console.screens.menu import Menu, MenuChoice

        screen, session = self._screen, self._screen.session
        choices = []
        if not session.why_not(Capability.RECORD, ""):
            choices.append(MenuChoice("j", "write it into the journal"))
        if not session.why_not(Capability.SEND, ""):
            choices.append(MenuChoice("m", "write it as a message"))
        choices.append(MenuChoice("n", "neither"))

        def chosen(number: int | None) -> None:
            key = "" if number is None else choices[number].key
            if key == "j":
                screen.run_task(self._record(shift), group=HAND_OVER)
            elif key == "m":
                self._write(ComposerDraft(f"{HAND_OVER}:{uuid.uuid4()}", subject="Hand-over", body=shift.text))

        screen.ask(Menu(f"End of the shift: {shift.words}", choices, screen.text_styles), chosen)

    async def _record(self, shift: HandOver) -> None:
        session = self._screen.session
        details = {**shift.numbers, "left": shift.left, "seconds": round(shift.seconds), "rows": list(shift.lines)}
        record = Intervention(
            str(uuid.uuid4()), session.user, HAND_OVER, session.clock(), note=shift.words, details=details
        )
        try:
            await asyncio.to_thread(session.store.record, record)
        except MailError as error:
            self._screen.report(error, title="Not in the journal")
            return
        session.live.fold([record], session.clock())
        self._screen.tell("Handed over: in the journal")
