"""The application: opens the console on a store, feeds it, and dresses it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import ClassVar

from textual import work
from textual.app import App
from textual.theme import Theme
from textual.worker import Worker

from console.config import Config, config_folder
from console.failures import tell_failure
from console.feed import carry
from console.ink import Ink
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
from mailstore.store import Store

__all__ = ["SignalboxApp"]


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
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._config = config
        self._problems = problems
        self.session = Session(
            store, state or State(), config, user=user, observe=observe or config.observe, clock=clock
        )
        self._wanted_theme = theme or config.theme
        self.theme_names: list[str] = []
        self.desk: MainScreen | None = None

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
        desk = self.desk
        assert desk is not None
        self.session.mailbox.fold(await asyncio.to_thread(self.session.load), self.session.now())
        await carry(self.session.store, self._fold, desk.mail_changed, self._failed)

    def _fold(self, batch: list[Event]) -> None:
        mailbox = self.session.mailbox
        mailbox.fold(batch, self.session.now())
        if not self.session.is_loading:
            came = [event for event in batch if isinstance(event, Message)]
            self.session.arrived.update(message.id for message in came)
            self._announce([message for message in came if mailbox.is_mine(message)])
        for event in batch:
            if isinstance(event, Reset):
                self.session.forget_bodies()
                self.session.arrived.clear()
                self.notify(f"read anew: {event.reason}", markup=False)

    def _announce(self, mail: list[Message]) -> None:
        """Ring once for mail to the person that has just come; agents' own mail is quiet."""
        if mail and self._config.bell:
            self.bell()
        for message in mail[:1]:
            more = f" and {len(mail) - 1} more" if len(mail) > 1 else ""
            words = visible_line(f"{message.sender}: {message.subject}{more}")
            self.notify(words, title="For you", timeout=6, markup=False)

    def _failed(self, error: StoreError) -> None:
        self.session.mailbox.fold([Gone(error.problem)], self.session.now())
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
