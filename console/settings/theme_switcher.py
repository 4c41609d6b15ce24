"""The themes of the running application: chosen, changed, and reloaded when their files are saved."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any, Protocol

from textual.app import App
from textual.theme import Theme

from console.settings.config import config_folder
from console.settings.theme_files import AUTO, DEFAULTS, FOLLOWING, code_style, file_changes, first_themes, load_themes
from console.terminal.queries import Questioned, ask_background, hinted_dark
from console.words.styles import TextStyles

FALLBACK = FOLLOWING[AUTO][0]


class KeptAppearance(Protocol):
    """Where the chosen theme and the terminal's background are kept for the next start. Methods block."""

    def appearance(self) -> dict[str, Any]: ...
    def save_appearance(self, **changes: Any) -> None: ...


class ThemeSwitcher:
    """Sets an application's themes: the one chosen in the console until the settings name another one.

    What some names mean depends on the background of the terminal, which is asked for it.
    """

    def __init__(self, app: App[Any], kept: KeptAppearance, configured: str) -> None:
        self._app = app
        self._kept = kept
        self._configured = configured
        self._wanted = FALLBACK
        """The name that was asked for: of a theme, or of one by the background."""
        self._is_dark = True
        self._terminal: Questioned | None = None
        self.names: list[str] = []

    def start(self, asked: str | None) -> list[str]:
        """Set the first theme, that which was asked for if any, before anything is drawn; return the problems."""
        app, appearance = self._app, self._kept.appearance()
        chosen = str(appearance.get("theme", "")) if appearance.get("configured") == self._configured else ""
        self._wanted = wanted = asked or chosen or self._configured
        hint = hinted_dark(os.environ)
        self._is_dark = bool(appearance.get("is_dark", True)) if hint is None else hint
        themes, problems = first_themes(config_folder() / "themes", self._named(wanted))
        self._register(themes)
        name, problem = self._find(wanted)
        if any(f"{wanted}.toml:" in known for known in problems):
            problem = ""  # its file is the problem, which is reported already
        app.set_reactive(App.theme, name)  # draws nothing
        is_dark = app.current_theme.dark
        if problem and not asked and not chosen:
            from console.settings.config_file import place_of

            problem = f"{place_of((), 'theme')}: {problem}"
        for mode, is_on in ((f"-theme-{name}", True), ("-dark-mode", is_dark), ("-light-mode", not is_dark)):
            app.set_class(is_on, mode, update=False)
        app.stylesheet.set_variables(app.get_css_variables())
        return [*problems, problem]

    def load_all(self) -> list[str]:
        """Load the themes that the first screen did without; return the problems, a sentence each."""
        themes, problems = load_themes(config_folder() / "themes")
        self._register(themes)
        return problems

    def _register(self, themes: dict[str, Theme]) -> None:
        for theme in themes.values():
            self._app.register_theme(theme)
        self.names = list(themes)

    def _named(self, wanted: str) -> str:
        """Return the name of the theme that is wanted."""
        dark, light = FOLLOWING.get(wanted, (wanted, wanted))
        return dark if self._is_dark else light

    def _find(self, wanted: str) -> tuple[str, str]:
        """Return the name of an existing theme, and what is wrong with the name that was given."""
        name = self._named(wanted)
        if name in self._app.available_themes:
            return name, ""
        from difflib import get_close_matches

        near = get_close_matches(name, [*FOLLOWING, *self._app.available_themes], n=1)
        hint = f"did you mean {near[0]}?" if near else f"themes: {', '.join([*FOLLOWING, *self.names])}"
        return FALLBACK, f'no theme "{name}": {hint}'

    def choices(self) -> list[ThemeChoice]:
        """Return the themes that can be chosen."""
        return [ThemeChoice(self, name) for name in (*FOLLOWING, *self.names)]

    def set_theme(self, wanted: str) -> None:
        """Set a theme and save the choice; for an unknown name, warn and set the default theme."""
        name, problem = self._find(wanted)
        if problem:
            self._app.notify(problem, severity="warning", markup=False)
        self._wanted = name if problem else wanted
        self._show(name)
        self._save(theme=self._wanted, configured=self._configured)
        self._ask_terminal()

    def reconfigure(self, configured: str) -> None:
        """Set the theme that the settings name now."""
        self._configured = configured
        self.set_theme(configured)

    def preview(self, highlighted: object) -> None:
        """Show a theme whose choice is highlighted in a list; for anything else, the chosen one."""
        wanted = highlighted.name if isinstance(highlighted, ThemeChoice) else self._wanted
        self._show(self._find(wanted)[0])

    def _show(self, name: str) -> None:
        if name != self._app.theme:
            self._app.theme = name

    def _save(self, **changes: Any) -> None:
        self._app.run_worker(
            lambda: self._kept.save_appearance(**changes),
            name="saving the theme",
            group="marks",
            thread=True,
            exit_on_error=False,
        )

    def use_terminal(self, terminal: object) -> None:
        """Follow the background of a terminal, if it can be asked, while the theme depends on it."""
        self._terminal = terminal if isinstance(terminal, Questioned) else None
        self._ask_terminal()

    def _ask_terminal(self) -> None:
        if self._terminal is not None and self._wanted in FOLLOWING:  # it may answer later, or never
            ask_background(self._terminal, lambda is_dark: self._app.call_later(self._background_is, is_dark))

    def _background_is(self, is_dark: bool) -> None:
        if is_dark == self._is_dark:
            return
        self._is_dark = is_dark
        self._save(is_dark=is_dark)
        if self._wanted in FOLLOWING:
            self._show(self._find(self._wanted)[0])

    def text_styles(self) -> TextStyles:
        """Return the text styles of the current theme."""
        return TextStyles.of(self._app.theme_variables, code_style(self._app.current_theme))

    async def reloads(self) -> AsyncIterator[list[str]]:
        """Reload the user's themes whenever one of their files is saved; yield the problems, a sentence each."""
        async for _ in file_changes(config_folder() / "themes"):
            problems = self.load_all()
            self._app.mutate_reactive(App.theme)
            yield problems


class ThemedApp(Protocol):
    """The application as far as it has themes."""

    themes: ThemeSwitcher


class ThemeChoice:
    """Chooses a theme when called."""

    def __init__(self, themes: ThemeSwitcher, name: str) -> None:
        self._themes = themes
        self.name = name

    def __call__(self) -> None:
        self._themes.set_theme(self.name)


def theme_variables(theme: Theme) -> dict[str, str]:
    """Return defaults for the variables of our style sheets, for Textual's own themes."""
    colours = {
        "background": theme.background or "black",
        "surface": theme.surface or "black",
        "panel": theme.panel or "black",
        "foreground": theme.foreground or "white",
        "accent": theme.accent or theme.primary,
        "success": theme.success or "green",
        "warning": theme.warning or "yellow",
        "error": theme.error or "red",
        "muted": "gray",
    }
    return {"muted": "gray", **{name: colours[fallback] for name, fallback in DEFAULTS.items()}}
