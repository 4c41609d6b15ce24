"""Looking at the mailbox as it stood: stepping through the past by message, by hour, to a moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual import work

from console import later
from console.screens.exporting import Exporting
from console.stepping import stepped

if TYPE_CHECKING:
    from console.panes.slider import Slider

__all__ = ["Travelling"]


class Travelling(Exporting):
    """While the past is looked at nothing is written, and the present goes on being folded behind it."""

    _aim: float | None = None
    """The moment that is wanted; the screen follows as fast as the past can be built."""
    _is_building = False

    def action_travel(self) -> None:
        """Go to the past, or back to now."""
        if self._aim is not None:
            self._return()
            return
        times = self.session.live.times()
        if not times:
            self.tell("there is no past to go to: the mailbox is empty")
        else:
            self.go_to(times[-1])

    def action_travel_step(self, step: int) -> None:
        """Go on to the next message, back with a number below 0; those of one moment are one step."""
        if self._aim is None:
            self.tell("T goes to the past")
            return
        times = self.session.live.times()
        at = bisect_left(times, self._aim) - 1 if step < 0 else bisect_right(times, self._aim)
        if 0 <= at < len(times):
            self.go_to(times[at])
        else:
            self.tell("nothing further back" if step < 0 else "this is the newest message")

    def action_travel_hours(self, hours: int) -> None:
        """Go on by hours, no further back than to an hour before the first message."""
        if self._aim is None:
            self.tell("T goes to the past")
            return
        aim = self._aim + 3600 * hours
        if hours < 0 and self._aim < self.session.live.times()[0]:
            self.tell("nothing further back")
        else:
            self.go_to(min(aim, self.session.clock()))

    def action_travel_to(self) -> None:
        """Go to a moment that is typed."""
        now = self.session.clock()

        def wrong(text: str) -> str:
            moment = later.read_moment(text, now)
            return f"write {later.EXAMPLES}" if moment is None else "that is in the future" if moment > now else ""

        def answered(text: str | None) -> None:
            if text and (moment := later.read_moment(text, now)) is not None:
                self.go_to(moment)

        value = datetime.fromtimestamp(self._aim or now, UTC).strftime("%Y-%m-%dT%H:%M")
        self.app.push_screen(later.Prompt("The mailbox as it stood at (UTC)", value=value, check=wrong), answered)

    def action_back(self) -> None:
        """Go back one step; from the lists of the past, to now."""
        is_plain = self.found is None and not self.filter_text and not self.marked and not self.has_class("-zoomed")
        if self._aim is not None and self.pane() in ("sidebar", "threads") and is_plain:
            self._return()
        else:
            super().action_back()

    def go_to(self, moment: float) -> None:
        """Look at the mailbox as it stood at a moment, as soon as that can be built."""
        self._aim = moment
        times = self.session.live.times()
        slider = self._slider()
        slider.place = later.TimelinePosition(moment, self.session.clock(), bisect_right(times, moment), len(times))
        slider.display = True
        if not self._is_building:
            self._is_building = True
            self._build()

    @work(group="travel", exit_on_error=False)
    async def _build(self) -> None:
        try:
            while (moment := self._aim) is not None and moment != self.session.moment:
                steps = later.taken_back(self.session.live, moment)
                async with aclosing(stepped(steps, self.session.rest)) as found:
                    [past] = [each async for each in found]
                if self._aim is not None:
                    self.session.travel(moment, past)
                    self.composer.close()
                    self._show_anew()
        finally:
            self._is_building = False

    def _slider(self) -> Slider:
        """Return the line that says where in the past this is, which is made when it is first needed."""
        for slider in self.query(later.Slider):
            return slider
        slider = later.Slider(self.text_styles, id="slider")
        self.mount(slider, before="#footer")
        return slider

    def _return(self) -> None:
        self._aim = None
        self.session.travel(None, None)
        self._slider().display = False
        self._show_anew()
        self.tell("now again")

    def _show_anew(self) -> None:
        root = self.conversation.root
        if root is not None and root not in self.session.mailbox:
            self.conversation.show(None)
        self.search_anew()
        self.redraw()
