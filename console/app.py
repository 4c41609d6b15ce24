"""The application: opens the console on a store, feeds it, and dresses it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import ClassVar

from textual import work
from textual.app import App
from textual.theme import Theme
from textual.worker import Worker

from console.commands import PLAN_ARCHIVAL
from console.config import Config, config_folder
from console.failures import tell_failure
from console.feed import carry
from console.ink import Ink
from console.notices import osc9, run_quietly, show_on_desktop
from console.notifying import Notice, Occasion, Way, notices, occasion_of, ways
from console.palette import Palette
from console.render.safe import visible_line
from console.screens.look import Look
from console.screens.main import MainScreen
from console.session import Session
from console.state import State
from console.theming import DEFAULTS, code_style, load_themes, theme_changes
from mailstore.errors import StoreError
from mailstore.events import Event, Gone, Reset
from mailstore.message import Message
from mailstore.store import Capability, Store

__all__ = ["SignalboxApp"]

DEAD_LOOK_SECONDS = 2.0
"""How soon after its time ran out a letter is noticed that nobody wrote about."""

COALESCE_SECONDS = 0.5
"""How long arrivals are gathered before the person hears of them."""


class SignalboxApp(App[None]):
    """One person's console on one mailbox."""

    TITLE = "Signalbox"
    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {Palette}

    def __init__(
        self,
        store: Store,
        config: Config,
        *,
        observe: bool = False,
        user: str = "user",
        theme: str | None = None,
        state: State | None = None,
        problems: Sequence[str] = (),
        moment: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._config = config
        self._problems = problems
        self._moment = moment
        self.session = Session(
            store, state or State(), config, user=user, observe=observe or config.observe, clock=clock
        )
        self._wanted_theme = theme or config.theme
        self.theme_names: list[str] = []
        self.desk: MainScreen | None = None
        self._noted: list[tuple[Occasion, Message]] = []
        self._known: set[str] = set()
        self._letters: set[tuple[str, str]] = set()
        self._has_offered = False
        self._dead: int | None = None

    def on_mount(self) -> None:
        """Dress, open the main screen, and begin to read."""
        problems = [*self._problems, *self._load_themes(), self.session.state.problem]
        self.set_keymap(self.session.keymap)
        self.wear(self._wanted_theme)
        self.desk = MainScreen(self.session, self.ink(), Look.left_off(self.session.left_off()))
        self.push_screen(self.desk)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        for problem in [*problems, *self.session.keymap_problems]:
            if problem:
                self.notify(problem, severity="warning", timeout=10, markup=False)
        self.follow()
        self.reload_themes()
        self.set_interval(DEAD_LOOK_SECONDS, self._look_for_dead)
        self.call_after_refresh(self._settle)

    def _settle(self) -> None:
        """Let the garbage collector, if it was off until now, forget all that lives as long as the program."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()

    # Mail

    @work(group="feed", exit_on_error=False)
    async def follow(self) -> None:
        """Carry the store's events to the screen, from the first to the last."""
        self.session.live.fold(await asyncio.to_thread(self.session.load), self.session.clock())
        await carry(self.session.store, self._fold, self._changed, self._failed)

    def _changed(self, is_loading: bool) -> None:
        was_loading = self.session.is_loading
        if self.desk is not None:
            self.desk.mail_changed(is_loading)
        if was_loading and not is_loading:
            self._note()  # what was there is no news
            if self._moment is not None and self.desk is not None:
                self.desk.call_after_refresh(self.desk.go_to, self._moment)
        if not is_loading:
            self._offer_archival()

    def _fold(self, batch: list[Event]) -> None:
        mailbox = self.session.live
        if any(isinstance(event, Reset) for event in batch):
            self._known |= mailbox.ids()  # they come again, and are no news
        mailbox.fold(batch, self.session.clock())
        if not self.session.is_loading:
            came = [event for event in batch if isinstance(event, Message) and event.id not in self._known]
            self.session.arrived.update(message.id for message in came)
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
        if self.desk is not None:
            key = PLAN_ARCHIVAL.key_label(session.keymap)
            self.desk.tell(f"{number:,} messages are in the mailbox: {key} plans what may leave for the archive")

    def _note(self, came: Sequence[Message] = ()) -> None:
        """Gather what is worth a word; it is told together, a moment later."""
        session = self.session
        found = [(occasion, it) for it in came if (occasion := occasion_of(it, session.live, session.joined))]
        if (number := session.live.counts().dead) != self._dead:
            letters = session.live.dead_letters(session.clock())
            fresh = [it for it in letters if (it.message.id, it.recipient) not in self._letters]
            self._letters.update((it.message.id, it.recipient) for it in fresh)
            if self._dead is not None:
                found += [(Occasion.DEAD_LETTER, letter.message) for letter in fresh]
            self._dead = number
        if found and not self._noted:
            self.set_timer(COALESCE_SECONDS, self._tell_noted)
        self._noted += found

    def _look_for_dead(self) -> None:
        if not self.session.is_loading:
            self._note()

    def _tell_noted(self) -> None:
        found, self._noted = self._noted, []
        settings, now = self._config.notifications, self.session.clock()
        for notice in notices(found):
            for way in ways(notice, settings, now, bell=self._config.bell):
                self._tell_by(way, notice)

    def _tell_by(self, way: Way, notice: Notice) -> None:
        match way:
            case Way.TOAST:
                self.notify(visible_line(notice.words), title=notice.title, timeout=6, markup=False)
            case Way.BELL:
                self.bell()
            case Way.OSC9:
                if self._driver is not None:
                    self._driver.write(osc9(notice))
            case Way.DESKTOP:
                self._run_notice(show_on_desktop(notice))
            case Way.COMMAND:
                self._run_notice(run_quietly(self._config.notifications.command, notice))

    @work(group="notices", exit_on_error=False)
    async def _run_notice(self, telling: Awaitable[str]) -> None:
        problem = await telling
        if problem:
            self.notify(problem, title="Notification", severity="warning", markup=False)

    def _failed(self, error: StoreError) -> None:
        self.session.live.fold([Gone(error.problem)], self.session.clock())
        self.notify(str(error), severity="error", timeout=15, markup=False)
        if self.desk is not None:
            self.desk.mail_changed(False)

    # Looks

    def _load_themes(self) -> list[str]:
        themes, problems = load_themes(config_folder() / "themes")
        for theme in themes.values():
            self.register_theme(theme)
        self.theme_names = list(themes)
        return problems

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give Textual's own themes the variables that ours name."""
        palette = self.current_theme
        named = {
            "background": palette.background or "black",
            "surface": palette.surface or "black",
            "panel": palette.panel or "black",
            "foreground": palette.foreground or "white",
            "accent": palette.accent or palette.primary,
            "success": palette.success or "green",
            "warning": palette.warning or "yellow",
            "error": palette.error or "red",
            "muted": "gray",
        }
        return {"muted": "gray", **{name: named[fallback] for name, fallback in DEFAULTS.items()}}

    def ink(self) -> Ink:
        """Return the styles of the theme that is worn."""
        return Ink.of(self.get_css_variables(), code_style(self.current_theme))

    def wear(self, name: str) -> None:
        """Put a theme on; an unknown one is told, and the first of ours is worn."""
        if name not in self.available_themes:
            near = get_close_matches(name, self.available_themes, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.theme_names)}"
            self.notify(f"no theme is called {name!r}: {hint}", severity="warning", markup=False)
            name = "night-box"
        self.theme = name

    def _theme_changed(self, theme: Theme) -> None:
        if self.desk is not None and self.desk.is_mounted:
            self.desk.set_ink(self.ink())

    @work(group="themes", exit_on_error=False)
    async def reload_themes(self) -> None:
        """Wear the user's themes anew as they are saved."""
        async for _ in theme_changes(config_folder() / "themes"):
            for problem in self._load_themes():
                self.notify(problem, severity="warning", markup=False)
            self.mutate_reactive(App.theme)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Tell what failed."""
        tell_failure(self, event)
