"""The themes of the running application: chosen, changed, and reloaded when their files are saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.theme import Theme

from console.config import config_folder
from console.styles import TextStyles
from console.theme_files import DEFAULTS, code_style, first_themes, load_themes, theme_changes

__all__ = ["ThemeSwitcher", "theme_variables"]

FALLBACK = "night-box"


class ThemeSwitcher:
    """Sets an application's themes; `save` keeps the name of a chosen one for the next start, and blocks."""

    def __init__(self, app: App[Any], save: Callable[[str], None]) -> None:
        self._app = app
        self._save = save
        self.names: list[str] = []

    def start(self, chosen: str, configured: str) -> list[str]:
        """Set the first theme before anything is drawn; return the problems, a sentence each."""
        app, wanted = self._app, chosen or configured
        found, problems = first_themes(config_folder() / "themes", wanted)
        self._register(found)
        name, problem = self._find(wanted)
        if any(f"{wanted}.toml: " in known for known in problems):
            problem = ""  # its file is the problem, which is reported already
        app.set_reactive(App.theme, name)  # draws nothing
        is_dark = app.current_theme.dark
        for mode, is_on in ((f"-theme-{name}", True), ("-dark-mode", is_dark), ("-light-mode", not is_dark)):
            app.set_class(is_on, mode, update=False)
        app.stylesheet.set_variables(app.get_css_variables())
        return [*problems, problem]

    def load_all(self) -> list[str]:
        """Load the themes that the first screen did without; return the problems, a sentence each."""
        found, problems = load_themes(config_folder() / "themes")
        self._register(found)
        return problems

    def _register(self, themes: dict[str, Theme]) -> None:
        for theme in themes.values():
            self._app.register_theme(theme)
        self.names = list(themes)

    def _find(self, name: str) -> tuple[str, str]:
        """Return the name of an existing theme, and what is wrong with the name that was given."""
        if name in self._app.available_themes:
            return name, ""
        from difflib import get_close_matches

        near = get_close_matches(name, self._app.available_themes, n=1)
        hint = f"did you mean {near[0]}?" if near else f"themes: {', '.join(self.names)}"
        return FALLBACK, f'no theme "{name}": {hint}'

    def set_theme(self, name: str) -> None:
        """Set a theme and save the choice; for an unknown name, warn and set the default theme."""
        name, problem = self._find(name)
        if problem:
            self._app.notify(problem, severity="warning", markup=False)
        self._app.theme = name
        self._app.run_worker(
            lambda: self._save(name), name="saving the theme", group="marks", thread=True, exit_on_error=False
        )

    def text_styles(self) -> TextStyles:
        """Return the text styles of the current theme."""
        return TextStyles.of(self._app.theme_variables, code_style(self._app.current_theme))

    async def reload_on_change(self) -> None:
        """Reload the user's themes whenever one of their files is saved."""
        async for _ in theme_changes(config_folder() / "themes"):
            for problem in self.load_all():
                self._app.notify(problem, severity="warning", markup=False)
            self._app.mutate_reactive(App.theme)


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
