"""Show the mailbox as it was at a moment: step through the past by message, by hour, or to a time that is typed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from console.render.short_text import clock
from console.running.stepping import stepped
from console.screens.mail_screen import MailScreen
from console.words.styles import TextStyles
from mailstore.steps import MailboxReloaded

if TYPE_CHECKING:
    from console.panes.slider import Slider
    from console.screens.searching import Searching
    from mailstore.queries.causes import Cause
    from mailstore.records.message import Message


class TimeTravel:
    """Shows the past, in which nothing is written; the present goes on being folded behind it."""

    def __init__(self, screen: MailScreen, searching: Searching) -> None:
        self._screen = screen
        self._searching = searching
        self._slider: Slider | None = None
        self._aim: float | None = None
        """The moment that is wanted; the screen follows as fast as the past can be computed."""
        self._is_building = False
        self._known: tuple[object, list[float]] | None = None
        """The times of all messages, which are the same until another one comes."""

    def toggle(self) -> None:
        """Go to the past, or back to now."""
        if self.end():
            return
        times = self._times()
        if not times:
            self._screen.tell("The mailbox is empty: no past to show")
        else:
            self.go_to(times[-1])

    def step(self, step: int) -> None:
        """Go to the next message (or the previous one); messages of one moment are one step."""
        if self._aim is None:
            self._screen.tell("T: go to the past")
            return
        times = self._times()
        at = bisect_left(times, self._aim) - 1 if step < 0 else bisect_right(times, self._aim)
        if 0 <= at < len(times):
            self.go_to(times[at])
        else:
            self._screen.tell("Nothing further back" if step < 0 else "This is the newest message")

    def step_hours(self, hours: int) -> None:
        """Go on by hours, no further back than an hour before the first message."""
        if self._aim is None:
            self._screen.tell("T: go to the past")
            return
        aim, session, times = self._aim + 3600 * hours, self._screen.session, self._times()
        if hours < 0 and (not times or self._aim < times[0]):
            self._screen.tell("Nothing further back")
        else:
            self.go_to(min(aim, session.clock()))

    def ask_moment(self) -> None:
        """Ask for a time and go there."""
        from console.screens.prompt import Prompt
        from mailstore.queries.time_parse import EXAMPLES, read_moment

        now = self._screen.session.clock()

        def wrong(text: str) -> str:
            moment = read_moment(text, now)
            return f"Enter {EXAMPLES}" if moment is None else "That is in the future" if moment > now else ""

        def answered(text: str | None) -> None:
            if text and (moment := read_moment(text, now)) is not None:
                self.go_to(moment)

        then = datetime.fromtimestamp(self._aim or now).astimezone()
        value, zone = then.strftime("%Y-%m-%d %H:%M"), then.strftime("%Z")
        question = f"Show the mailbox as of ({zone})"
        detail = "09:00, yesterday 14:00, 2h, or 2026-03-16T10:00Z for UTC"
        self._screen.ask(Prompt(question, value=value, detail=detail, check=wrong), answered)

    def why(self) -> None:
        """List the messages and reads that led to the message; the one that is chosen is shown at its moment."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._trace(message), group="why", exclusive=True)

    async def _trace(self, message: Message) -> None:
        from mailstore.queries.causes import causes

        session = self._screen.session
        with suppress(MailboxReloaded):
            steps: AsyncGenerator[list[Cause]] = stepped(causes(session.mailbox, message), session.rest)
            async with aclosing(steps):
                async for chain in steps:
                    self._ask_cause(chain)

    def _ask_cause(self, chain: list[Cause]) -> None:
        from console.screens.menu import Menu, MenuChoice

        screen, now = self._screen, self._screen.session.now()
        mailbox = screen.session.mailbox
        if len(chain) == 1:
            screen.tell("It answers nothing, and no read before it is recorded of its sender")
            return

        def row(at: int, cause: Cause) -> MenuChoice:
            message = cause.message
            to = ", ".join(map(mailbox.label, message.recipients))
            read = f", read {clock(cause.read, now)}" if cause.read is not None else ""
            how = {None: "", "answers": f"answers it{read}", "read": f"begun after it{read}"}[cause.because]
            label = f"{clock(message.time, now)}  {message.sender} → {to}: {message.subject}"
            return MenuChoice(f"{at}" if at < 10 else " ", label, how)

        def chosen(number: int | None) -> None:
            if number is not None:
                message = chain[number].message
                self.go_to(message.time)
                screen.show_thread(mailbox.root_of(message.id), message.id)

        choices = [row(at, cause) for at, cause in enumerate(chain, 1)]
        screen.ask(Menu("What led to it: enter shows that moment", choices, screen.text_styles), chosen)

    def go_to(self, moment: float) -> None:
        """Show the mailbox as it was at a moment (seconds since the epoch), as soon as it is computed."""
        from console.panes.slider import TimelinePosition

        self._aim = moment
        session = self._screen.session
        times = self._times()
        slider = self._shown_slider()
        slider.place = TimelinePosition(moment, session.clock(), bisect_right(times, moment), len(times))
        slider.display = True
        self._count()
        if not self._is_building:
            self._is_building = True
            self._screen.run_task(self._build(), group="travel")

    def _times(self) -> list[float]:
        live = self._screen.session.live
        if self._known is None or self._known[0] != (live, len(live)):
            self._known = (live, len(live)), live.times()
        return self._known[1]

    def _count(self) -> None:
        """Say how many messages the moment has, once it is the one that is shown."""
        session, slider = self._screen.session, self._shown_slider()
        if self._aim == session.moment:
            there, now = session.mailbox.counts().messages, session.live.counts().messages
            slider.place = replace(slider.place, live=there, live_now=now)

    async def _build(self) -> None:
        from mailstore.state.past import past_in_steps

        session = self._screen.session
        try:
            while (moment := self._aim) is not None and moment != session.moment:
                steps = past_in_steps(session.live, moment)
                async with aclosing(stepped(steps, session.rest)) as results:
                    [past] = [mailbox async for mailbox in results]
                if self._aim is not None:
                    session.travel(moment, past)
                    self._count()
                    self._screen.close_composer()
                    self._show_other_mailbox()
        finally:
            self._is_building = False

    def _shown_slider(self) -> Slider:
        """Return the line that says which moment is shown; it is mounted when it is first needed."""
        from console.panes.slider import Slider

        if self._slider is None:
            self._slider = Slider(self._screen.text_styles, id="slider")
            self._screen.add_slider(self._slider)
        return self._slider

    def end(self) -> bool:
        """Go back to now; return whether the past was shown."""
        if self._aim is None:
            return False
        self._aim = None
        self._screen.session.travel(None, None)
        self._shown_slider().display = False
        self._show_other_mailbox()
        self._screen.tell("Back to live")
        return True

    def _show_other_mailbox(self) -> None:
        conversation = self._screen.conversation
        if conversation.root is not None and conversation.root not in self._screen.session.mailbox:
            conversation.show(None)
        self._searching.repeat()
        self._screen.redraw()

    def set_text_styles(self, styles: TextStyles) -> None:
        """Draw the slider in the styles of another theme."""
        if self._slider is not None:
            self._slider.text_styles = styles
            self._slider.refresh()
