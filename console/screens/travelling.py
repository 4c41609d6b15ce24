"""Looking at the mailbox as it stood: stepping through the past by message, by hour, to a moment."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from datetime import UTC, datetime

from textual import work

from console.panes.slider import Place, Slider
from console.screens.exporting import Exporting
from console.screens.prompt import Prompt
from mailstore.mailbox import Mailbox
from mailstore.moments import EXAMPLES, read_moment
from mailstore.past import mailbox_at

__all__ = ["Travelling"]

ATTEMPTS = 5


class Travelling(Exporting):
    """While the past is looked at nothing is written, and the present goes on being folded behind it."""

    def action_travel(self) -> None:
        """Go to the past, or back to now."""
        if self.session.moment is not None:
            self._return()
            return
        times = self._times()
        if not times:
            self.tell("there is no past to go to: the mailbox is empty")
        else:
            self._go_to(times[-1])

    def action_travel_step(self, step: int) -> None:
        """Go on to the next message, back with a number below 0; those of one moment are one step."""
        moment = self.session.moment
        if moment is None:
            self.tell("T goes to the past")
            return
        times = self._times()
        at = bisect_left(times, moment) - 1 if step < 0 else bisect_right(times, moment)
        if 0 <= at < len(times):
            self._go_to(times[at])
        else:
            self.tell("nothing further back" if step < 0 else "this is the newest message")

    def action_travel_hours(self, hours: int) -> None:
        """Go on by hours."""
        moment = self.session.moment
        if moment is None:
            self.tell("T goes to the past")
        else:
            self._go_to(min(moment + 3600 * hours, self.session.clock()))

    def action_travel_to(self) -> None:
        """Go to a moment that is typed."""
        now = self.session.clock()

        def wrong(text: str) -> str:
            moment = read_moment(text, now)
            return f"write {EXAMPLES}" if moment is None else "that is in the future" if moment > now else ""

        def answered(text: str | None) -> None:
            if text and (moment := read_moment(text, now)) is not None:
                self._go_to(moment)

        value = datetime.fromtimestamp(self.session.moment or now, UTC).strftime("%Y-%m-%dT%H:%M")
        self.app.push_screen(Prompt("The mailbox as it stood at (UTC)", value=value, check=wrong), answered)

    def action_back(self) -> None:
        """Go back one step; from the lists of the past, to now."""
        if self.session.moment is not None and self.pane() in ("sidebar", "threads") and not self.marked:
            self._return()
        else:
            super().action_back()

    def _times(self) -> list[float]:
        return [message.time for message in self.session.live.messages()]

    @work(group="travel", exclusive=True, exit_on_error=False)
    async def _go_to(self, moment: float) -> None:
        if self.composer.is_open:
            self.composer.close()
        past = await asyncio.to_thread(_taken_back, self.session.live, moment)
        self.session.travel(moment, past)
        times = self._times()
        number = bisect_right(times, moment)
        slider = self.query_one(Slider)
        slider.place = Place(moment, self.session.clock(), number, len(times))
        slider.display = True
        self._show_anew()

    def _return(self) -> None:
        self.session.travel(None, None)
        self.query_one(Slider).display = False
        self._show_anew()
        self.tell("now again")

    def _show_anew(self) -> None:
        root = self.conversation.root
        if root is not None and root not in self.session.mailbox:
            self.conversation.show(None)
        self.redraw()


def _taken_back(mailbox: Mailbox, moment: float) -> Mailbox:
    """Build the past beside the present; where mail comes in between, begin again."""
    for _ in range(ATTEMPTS - 1):
        try:
            return mailbox_at(mailbox, moment)
        except RuntimeError:  # a dictionary grew while it was read
            continue
    return mailbox_at(mailbox, moment)
