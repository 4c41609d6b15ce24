"""The application: opens the console on a store, feeds it, and dresses it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App
from textual.command import Provider
from textual.driver import Driver
from textual.events import Event as UIEvent
from textual.events import Key, Paste
from textual.worker import Worker

from console.bindings import keys_of
from console.commands import PLAN_ARCHIVAL, QUIT
from console.config import Config
from console.dressing import Dressing
from console.failures import tell_failure
from console.idle import IdleTracker
from console.prefetch import Prefetch
from console.preload import preload
from console.render.safe import visible, visible_line
from console.screens.location import Location
from console.screens.main_screen import MainScreen
from console.session import Session
from mailstore.errors import StoreError
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from console.notification_rules import DeliveryMethod, Notification, Occasion
    from console.state import PersonalState

__all__ = ["SignalboxApp"]

TICK_SECONDS = 1.0
"""How often the clock moves; so soon a letter is noticed whose time ran out, and that nobody wrote about."""

KEY_SECONDS = 0.25
"""How long a key that waited for the first screen may keep the next one waiting."""

DEFERRED_CSS = Path(__file__).with_name("deferred.tcss")

COALESCE_SECONDS = 0.5
"""How long arrivals are gathered before the person hears of them."""


def palette() -> type[Provider]:
    """Return what the palette offers; imported when the palette opens."""
    from console.palette import Palette

    return Palette


class SignalboxApp(Dressing):
    """One person's console on one mailbox."""

    TITLE = "Signalbox"
    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {palette}

    def __init__(
        self,
        store: Store,
        config: Config,
        *,
        observe: bool = False,
        user: str = "user",
        theme: str | None = None,
        state: PersonalState | None = None,
        problems: Sequence[str] = (),
        moment: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._config = config
        self._moment = moment
        self._idling = IdleTracker()
        is_observing = observe or config.observe
        self.session = Session(
            store, state, config, user=user, observe=is_observing, clock=clock, rest=self._idling.rest
        )
        self._ahead = Prefetch(store)
        found = self.dress(theme or self.session.chosen_theme(), config.theme)
        self.session.problems = [*problems, *found, *self.session.keymap_problems]
        self.main_screen: MainScreen | None = None
        self._waiting: list[Key | Paste] | None = []
        self._moves = keys_of("move(", self.session.keymap)
        self._noted: list[tuple[Occasion, Message]] = []
        self._known: set[str] = set()
        self._letters: set[tuple[str, str]] = set()
        self._has_offered = False
        self._dead: int | None = None

    def get_driver_class(self) -> type[Driver]:
        """Read keys in our own way where that can be done (docs/decisions/0033)."""
        try:
            from console.driver import Driver
        except ImportError:
            return super().get_driver_class()
        return Driver

    def get_default_screen(self) -> MainScreen:
        """Open on the main screen, with the newest mail on it."""
        left_off = self.session.left_off()
        for batch in self._ahead.head():
            self._fold(batch)
        self._fold(self.session.seen_before())
        self.main_screen = MainScreen(self.session, self.text_styles(), Location.restored(left_off))
        return self.main_screen

    def on_mount(self) -> None:
        """Show the first screen; the rest of the program, and of the mail, comes after it."""
        self.set_keymap(self.session.keymap)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.call_after_refresh(self._complete)

    @work(group="complete", exit_on_error=False)
    async def _complete(self) -> None:
        """Bring what the first screen did without."""
        self.follow()
        await self._idling.moment()
        self.stylesheet.read(DEFERRED_CSS)
        if self.main_screen is not None:
            await self.main_screen.mount_remaining(self._idling.moment)
        if self.current_theme.ansi or not self.current_theme.dark:
            self.mutate_reactive(App.theme)  # the terminal's own colours are filtered for a dark theme at first
        await self._take_keys()
        found = [*self.session.problems, *self.load_themes(), await asyncio.to_thread(self._problem_of_state)]
        self.session.problems = list(dict.fromkeys(filter(None, found)))
        if self.session.problems and self.main_screen is not None:
            await self.main_screen.action_part("pages", "problems", False)
        self.reload_themes()
        self.set_interval(TICK_SECONDS, self._tick)
        await preload(self._idling.moment)
        self._idling.settle()

    def _problem_of_state(self) -> str:
        return self.session.state.problem

    async def on_event(self, event: UIEvent) -> None:
        """Let the keys wait that come before the panes which they may open are there; a list is moved in at once."""
        is_early = False
        if isinstance(event, Key):
            self._idling.key()
            self._idling.sweep_soon()
            is_early = not self._waiting and event.key in self._moves
        if self._waiting is None or is_early or not isinstance(event, Key | Paste) or event.is_forwarded:
            await super().on_event(event)
        else:
            self._waiting.append(event)

    def action_help_quit(self) -> None:
        """Tell who presses ctrl+c to leave which key it is here."""
        self.notify(f"{QUIT.key_label(self.session.keymap)} quits", markup=False)

    async def action_quit(self) -> None:
        """Leave from wherever one is, as ctrl+q does."""
        if self.main_screen is not None:
            await self.main_screen.action_part("closing", "leave")

    async def _take_keys(self) -> None:
        """Do what was typed meanwhile: each key when all that the one before brought about is done."""
        while self._waiting:
            on_its_way = (self.focused or self.screen).ancestors_with_self
            await super().on_event(self._waiting.pop(0))
            for node in on_its_way:
                done = asyncio.Event()
                node.call_later(done.set)
                with suppress(TimeoutError):  # a node that has gone meanwhile does nothing any more
                    await asyncio.wait_for(done.wait(), KEY_SECONDS)
        self._waiting = None

    # Mail

    @work(group="feed", exit_on_error=False)
    async def follow(self) -> None:
        """Carry the store's events to the screen, from the first to the last."""
        from console.feed import Sink, carry

        session = self.session
        session.live.fold(await asyncio.to_thread(session.load), session.clock())
        sink = Sink(self._fold, self._adopt, self._changed, self._failed, self._idling.rest)
        await carry(session.store, session.user, session.load_seen, sink, self._ahead)

    def _adopt(self, mailbox: Mailbox) -> None:
        """Take a whole mailbox in the place of the first glimpse of it, or of one that no longer holds."""
        is_anew = not self.session.is_loading
        self.session.adopt(mailbox)
        self._idling.pass_over()
        self._letters.update(mailbox.deaths())
        self._dead = mailbox.counts().dead
        if is_anew:
            self.notify("read anew: the files were replaced", markup=False)

    def _changed(self, is_loading: bool) -> None:
        was_loading = self.session.is_loading
        if self.main_screen is not None:
            self.main_screen.mail_changed(is_loading)
            self._idling.sweep_soon()
        if was_loading and not is_loading:
            self._note()  # what was there is no news
            if self._moment is not None and self.main_screen is not None:
                self.main_screen.call_after_refresh(self.main_screen.action_part, "time_travel", "go_to", self._moment)
        if not is_loading:
            self._offer_archival()

    def _fold(self, batch: list[Event]) -> None:
        mailbox = self.session.live
        if any(isinstance(event, Reset) for event in batch):
            self._known |= mailbox.ids()  # they come again, and are no news
        mailbox.fold(batch, self.session.clock())
        if not self.session.is_loading:
            came = [event for event in batch if isinstance(event, Message) and event.id not in self._known]
            self.session.arrived.update((message.id, None) for message in came)
            self._note(came)
        for event in batch:
            if isinstance(event, Reset):
                self.session.forget_bodies()
                self.notify(f"read anew: {event.reason}", markup=False)

    def _offer_archival(self) -> None:
        """Say once that there is much mail, and how to archive it."""
        limit, session = self._config.archive.offer_past, self.session
        number = session.live.counts().messages
        if self._has_offered or not limit or number <= limit or session.why_not(Capability.ARCHIVE):
            return
        self._has_offered = True
        if self.main_screen is not None:
            key = PLAN_ARCHIVAL.key_label(session.keymap)
            self.main_screen.tell(f"{number:,} messages are in the mailbox: {key} plans what may leave for the archive")

    def _note(self, came: Sequence[Message] = ()) -> None:
        """Gather what is worth a word; it is told together, a moment later."""
        from console.notification_rules import Occasion, occasion_of

        session = self.session
        found = [(occasion, it) for it in came if (occasion := occasion_of(it, session.live, session.joined))]
        if (number := session.live.counts().dead) != self._dead:
            fresh = [key for key in session.live.deaths() if key not in self._letters]
            self._letters.update(fresh)
            if self._dead is not None:
                found += [(Occasion.DEAD_LETTER, it) for key, _ in fresh if (it := session.live.message(key))]
            self._dead = number
        if found and not self._noted:
            self.set_timer(COALESCE_SECONDS, self._tell_noted)
        self._noted += found

    def _tick(self) -> None:
        """Let a second pass: one timer for all, for an idle console shall sleep."""
        self._idling.tick()
        if self.main_screen is not None and self.main_screen.is_mounted:
            self.main_screen.tick()
        if not self.session.is_loading:
            self._note()

    def _tell_noted(self) -> None:
        from console.notification_rules import delivery_methods, group_notifications

        found, self._noted = self._noted, []
        settings, now = self._config.notifications, self.session.clock()
        for notice in group_notifications(found):
            for way in delivery_methods(notice, settings, now, bell=self._config.bell):
                self._tell_by(way, notice)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a word to the person for a while (seconds); whatever it quotes is data."""
        shown, heading = visible(message), visible_line(title)
        super().notify(shown, title=heading, severity=severity, timeout=timeout, markup=markup)

    def _tell_by(self, way: DeliveryMethod, notice: Notification) -> None:
        from console.notification_delivery import osc9, run_quietly, show_on_desktop
        from console.notification_rules import DeliveryMethod

        match way:
            case DeliveryMethod.TOAST:
                self.notify(visible_line(notice.words), title=notice.title, timeout=6, markup=False)
            case DeliveryMethod.BELL:
                self.bell()
            case DeliveryMethod.OSC9:
                if self._driver is not None:
                    self._driver.write(osc9(notice))
            case DeliveryMethod.DESKTOP:
                self._run_notice(show_on_desktop(notice))
            case DeliveryMethod.COMMAND:
                self._run_notice(run_quietly(self._config.notifications.command, notice))

    @work(group="notices", exit_on_error=False)
    async def _run_notice(self, telling: Awaitable[str]) -> None:
        problem = await telling
        if problem:
            self.notify(problem, title="Notification", severity="warning", markup=False)

    def _failed(self, error: StoreError) -> None:
        self.session.live.fold([Gone(error.problem)], self.session.clock())
        self.notify(str(error), severity="error", timeout=15, markup=False)
        if self.main_screen is not None:
            self.main_screen.mail_changed(False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell what failed."""
        tell_failure(self, event)
