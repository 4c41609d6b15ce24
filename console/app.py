"""The application: opens the main screen, and holds what all screens share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import App
from textual.command import Provider
from textual.driver import Driver
from textual.events import Event as UIEvent
from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste
from textual.filter import LineFilter
from textual.message import Message
from textual.theme import Theme
from textual.worker import Worker

from console import preload
from console.browser.place import is_in_browser
from console.commands.table import BY_ID, keys_of
from console.render.ansi_colours import AnsiColours
from console.render.cells import PortableCells
from console.render.safe import visible, visible_controls, visible_line
from console.running.idle import IdleTracker, load_modules
from console.running.prefetch import Prefetch
from console.running.workers import start_worker, tell_failure
from console.screens.counting import MOVES
from console.screens.dialog import ClosesOnce
from console.screens.location import ScreenLocation
from console.screens.main_screen import MainScreen
from console.session import Session
from console.settings.config import Config, config_folder
from console.settings.theme_files import file_changes, file_stamps
from console.settings.theme_switcher import ThemeSwitcher, theme_variables
from console.terminal.queries import ask_widths
from console.terminal.typed_keys import TypedKeys
from console.widgets.punctual import PunctualTimers
from mailstore.errors import log_unexpected
from mailstore.store import Store

if TYPE_CHECKING:
    from textual.await_remove import AwaitRemove
    from textual.command import CommandPalette
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.widget import Widget

    from console.feed import MailFeed
    from console.running.log_file import LogFile
    from console.state.personal_state import PersonalState

TICK_SECONDS = 1.0
"""How often the clock moves, and so how soon it is noticed that a message has expired."""
LEAVING_SECONDS = 2.0
"""How long a console that is ended may take to save what is open."""

DEFERRED_CSS = Path(__file__).with_name("deferred.tcss")


def palette() -> type[Provider]:
    """Return the provider of the command palette; imported when the palette opens."""
    from console.screens.palette import Palette

    return Palette


class SignalboxApp(PunctualTimers, App[None]):
    """One person's console on one mailbox."""

    TITLE = "Signalbox"
    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = {palette}

    _has_theme = False
    """Whether our theme is set; Textual's own, which is there before, is never shown."""

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
        log: Path | None = None,
        logs_commands: bool = False,
    ) -> None:
        super().__init__()
        self._log_path, self._logs_commands = log, logs_commands
        self._settings: tuple[Config, list[str]] = config, [*problems]
        self._settings_read = file_stamps(config_folder())
        self._log_file: LogFile | None = None
        self._moment = moment
        self._idle = IdleTracker()
        is_observing = observe or config.observe
        self.session = Session(store, state, config, user=user, observe=is_observing, clock=clock, rest=self._idle.rest)
        self._prefetch = Prefetch(store)
        self._line_filters = PortableCells(), AnsiColours()
        self.themes = ThemeSwitcher(self, self.session.personal, config.theme)
        self._has_theme = True
        theme_problems = self.themes.start(theme)
        self.session.problems = [*problems, *theme_problems, *self.session.keymap_problems]
        self.main_screen: MainScreen | None = None
        self._typed = TypedKeys(self, keys_of(MOVES, self.session.keymap), self._handle_key)
        self.feed: MailFeed | None = None

    def get_driver_class(self) -> type[Driver]:
        """Use our own driver if its parts of Textual are there (docs/decisions/0033)."""
        try:
            if is_in_browser():
                from console.browser.driver import BrowserDriver

                return BrowserDriver
            from console.terminal.driver import Driver
        except ImportError:
            return super().get_driver_class()
        return Driver

    @property
    def clipboard(self) -> str:
        """Return what `ctrl+v` puts into a field: what was copied last here, with control characters made visible."""
        return visible_controls(super().clipboard)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return filters that make all terminals draw the same lines."""
        cells, colours = self._line_filters
        filters = [*super().get_line_filters(), cells]
        if self.console.color_system == "standard" and not self.is_headless:  # a screenshot has all colours
            filters.append(colours)
        return filters

    def get_css_variables(self) -> dict[str, str]:
        """Return the variables of the theme; none before ours is set, for they take a while to compute."""
        return super().get_css_variables() if self._has_theme else {}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the variables of our style sheets for a theme that doesn't define them."""
        return theme_variables(self.current_theme)

    def get_default_screen(self) -> MainScreen:
        """Return the main screen, with the newest mail on it."""
        left_off = self.session.personal.left_off()
        live, now = self.session.live, self.session.clock()
        for batch in self._prefetch.head():
            live.fold(batch, now)
        live.fold(self.session.personal.seen_among(live.ids()), now)
        self.main_screen = MainScreen(self.session, self.themes.text_styles(), ScreenLocation.restored(left_off))
        return self.main_screen

    def on_mount(self) -> None:
        """Show the first screen; the rest of the program and of the mail follows it."""
        ask_widths(self._driver, lambda trusted: self.call_later(self._widths_are, trusted))
        self.set_keymap(self.session.keymap)
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self.call_after_refresh(self._complete)

    def _widths_are(self, trusted: frozenset[str]) -> None:
        """Draw characters as they are written of which the terminal has the width that the layout assumes."""
        cells, colours = self._line_filters
        self._line_filters = PortableCells(trusted), colours
        for widget in self.screen.walk_children() if trusted and cells.has_replaced else ():
            widget.notify_style_update()
            widget.refresh()

    @work(group="complete", exit_on_error=False)
    async def _complete(self) -> None:
        """Load what the first screen did without."""
        await load_modules("console.feed")
        from console.feed import MailFeed

        assert self.main_screen is not None
        self.feed = MailFeed(self, self.main_screen, self._prefetch, self._idle, self._moment)
        start_worker(self, self.feed.run(), group="feed")
        await self._idle.wait()
        if self._log_path is not None:
            await load_modules("console.running.log_file")
            from console.running.log_file import LogFile

            self._log_file = LogFile(self._log_path, logs_commands=self._logs_commands)
            self._log_file.note_start(self.session.store, *self.size)
        self.stylesheet.read(DEFERRED_CSS)
        if self.main_screen is not None:
            await self.main_screen.mount_remaining(self._idle.wait)
        if self.current_theme.ansi or not self.current_theme.dark:
            self.mutate_reactive(App.theme)  # Textual filters ANSI colours for a dark theme at first
        await self._typed.begin()
        await self.feed.has_marks.wait()  # damage is met while they are read
        of_themes = self.themes.load_all()
        problems = [*self.session.problems, *of_themes, await asyncio.to_thread(self.session.personal.problem)]
        self.session.problems = list(dict.fromkeys(filter(None, problems)))
        if self.session.problems and self.main_screen is not None:
            (await self.main_screen.load_parts()).pages.problems(is_asked_for=False)
        self.themes.use_terminal(self._driver)
        start_worker(self, self.feed.follow_hooks(), group="hooks")
        start_worker(self, self.feed.follow_usage(), group="usage")
        start_worker(self, self._follow_themes(of_themes), group="themes")
        if not is_in_browser():  # a guest's settings are not those of the file
            start_worker(self, self._follow_settings(), group="themes")
        self.set_interval(TICK_SECONDS, self._tick)
        await preload.preload(self._idle.wait)
        self._idle.start_collecting()

    async def _follow_themes(self, known: Sequence[str]) -> None:
        """Keep the problems of the user's themes up to date, and tell of new ones."""
        others = [problem for problem in self.session.problems if problem not in known]
        async for problems in self.themes.reloads():
            self.session.problems = [*others, *problems]
            if problems and self.main_screen is not None:
                self.main_screen.tell(problems[0].removeprefix(f"{config_folder()}/"))

    async def _follow_settings(self) -> None:
        """Apply the settings whenever their file is saved, and tell which; those used at the start hold next time."""
        from console.settings.config_file import load_config
        from console.settings.live_config import applied

        session, (config, problems) = self.session, self._settings
        async for _ in file_changes(config_folder(), self._settings_read):
            settings_read = await asyncio.to_thread(load_config)
            if settings_read == (config, problems) or self.main_screen is None:
                continue
            others = [problem for problem in session.problems if problem not in problems]
            config, problems = settings_read
            session.problems = [*problems, *others]
            changed = applied(session.config, config)
            session.config = changed.config
            await asyncio.to_thread(session.personal.reconfigure, changed.config)
            if "theme" in changed.now:
                self.themes.reconfigure(changed.config.theme)
            self.main_screen.redraw()
            fresh = [problem.removeprefix(f"{config_folder()}/") for problem in problems]
            self.main_screen.tell(" · ".join(filter(None, [*fresh[:1], str(changed)])))

    def _theme_changed(self, theme: Theme) -> None:
        if self.main_screen is not None and self.main_screen.is_mounted:
            self.main_screen.set_text_styles(self.themes.text_styles())

    def on_command_palette_option_highlighted(self, event: CommandPalette.OptionHighlighted) -> None:
        """Preview a theme that is highlighted in the palette."""
        hit = getattr(event.highlighted_event.option, "hit", None)
        self.themes.preview(getattr(hit, "command", None))

    def on_command_palette_closed(self, event: CommandPalette.Closed) -> None:
        """Show the chosen theme again, unless one is chosen now."""
        if not event.option_selected:
            self.themes.preview(None)

    def post_message(self, message: Message) -> bool:
        """Queue a message; other work rests from the moment at which a key is read, which a thread does."""
        if isinstance(message, Key):
            self._idle.note_key()
        return super().post_message(message)

    async def on_event(self, event: UIEvent) -> None:
        """Handle an event; keys in turn."""
        if isinstance(event, Key | MouseDown | MouseScrollDown | MouseScrollUp):
            self.session.last_key = self.session.clock()
            self.session.keys += 1
        if isinstance(event, Key):
            self._idle.collect_soon()
        if not self._typed.hold(event):
            await self._handle_key(event)

    async def _handle_key(self, event: UIEvent) -> None:
        """Handle an event whose turn it is."""
        if isinstance(event, Key | Paste) and isinstance(self.screen, ClosesOnce) and self.screen.ignores_keys:
            return
        if isinstance(event, Key) and not all(screen.is_mounted for screen in self.screen_stack[-1:]):
            # a screen that is being built takes it once it is there: what is typed at once is for what it opens
            self.screen.call_later(self.post_message, Key(event.key, event.character))
        else:
            await super().on_event(event)

    def action_command_palette(self) -> None:
        """Open the command palette."""
        from console.screens.dialog import CommandDialog

        if not isinstance(self.screen, CommandDialog):
            self.push_screen(CommandDialog())

    def action_help_quit(self) -> None:
        """Name the key that quits, for those who press Ctrl+C."""
        self.notify(f"{BY_ID['quit'].key_label(self.session.keymap)} quits")

    async def action_quit(self) -> None:
        """Quit from any screen, as Ctrl+Q does."""
        if self.main_screen is not None:
            (await self.main_screen.load_parts()).closing.leave()

    def end(self, return_code: int) -> None:
        """Save what is open, for `LEAVING_SECONDS` at most, and end with an exit status; ask nothing."""
        start_worker(self, self._end(return_code), group="end")

    async def _end(self, return_code: int) -> None:
        try:
            async with asyncio.timeout(LEAVING_SECONDS):
                if self.main_screen is not None:
                    await (await self.main_screen.load_parts()).closing.save()
        finally:
            self.exit(return_code=return_code)

    def _tick(self) -> None:
        """Advance the clock by a second: one timer for everything, so that an idle console sleeps."""
        self._idle.tick()
        if self.main_screen is not None and self.main_screen.is_mounted and self.is_running:
            self.main_screen.tick()
        if self.feed is not None:
            self.feed.tick()

    # Notifications

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notification for so many seconds, an error once at a time; what it quotes is made safe."""
        shown, heading = visible(message), visible_line(title)
        if severity == "error" and any((it.title, it.message) == (heading, shown) for it in self._notifications):
            return
        super().notify(shown, title=heading, severity=severity, timeout=timeout, markup=markup)

    def write_to_terminal(self, text: str) -> None:
        """Write an escape sequence to the terminal."""
        if self._driver is not None:
            self._driver.write(text)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Remove widgets; the screen below one that is removed is already shown, and not laid out and painted again."""
        return super()._prune(*nodes, parent=None if parent is self else parent)

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        """The screens that show through the one on top; Textual also paints the one below an opaque screen."""
        is_covered = bool(self._screen_stack) and self.screen.styles.background.a == 1
        return [] if is_covered else super()._background_screens

    def _handle_exception(self, error: Exception) -> None:
        log_unexpected(error, "the console crashed")  # there is no public event for it earlier
        super()._handle_exception(error)

    def on_unmount(self) -> None:
        """Write what is left of the log."""
        if self._log_file is not None:
            self._log_file.close()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report a worker that failed."""
        tell_failure(self, event)
