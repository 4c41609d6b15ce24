"""What the application wears: its themes, and how lines are written so that a terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import App
from textual.filter import LineFilter
from textual.theme import Theme

from console.config import config_folder
from console.render.ansi_colours import AnsiColours
from console.render.cells import PortableCells
from console.session import Session
from console.styles import TextStyles
from console.theme_files import DEFAULTS, code_style, first_themes, theme_changes
from console.theme_files import load_themes as every_theme

if TYPE_CHECKING:
    from console.screens.main_screen import MainScreen

__all__ = ["Dressing"]


class Dressing(App[None]):
    """Puts themes on, reloads them as they are saved, and keeps the one that was chosen."""

    session: Session
    main_screen: MainScreen | None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.theme_names: list[str] = []
        self._sure_cells, self._sixteen = PortableCells(), AnsiColours()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Draw all lines so that every terminal shows them alike."""
        filters = [*super().get_line_filters(), self._sure_cells]
        if self.console.color_system == "standard" and not self.is_headless:  # a picture of the screen has all colours
            filters.append(self._sixteen)
        return filters

    def dress(self, chosen: str, configured: str) -> list[str]:
        """Put a theme on before anything is drawn, without drawing anew; return what is wrong, in sentences."""
        found, problems = first_themes(config_folder() / "themes", chosen or configured)
        self._take(found)
        name, problem = self._theme_called(chosen or configured)
        left_out = f"{chosen or configured}.toml: "
        if any(left_out in told for told in problems):
            problem = ""  # why it is left out is told already
        self.set_reactive(App.theme, name)
        is_dark = self.current_theme.dark
        for mode, is_on in ((f"-theme-{name}", True), ("-dark-mode", is_dark), ("-light-mode", not is_dark)):
            self.set_class(is_on, mode, update=False)
        self.stylesheet.set_variables(self.get_css_variables())
        return [*problems, problem]

    def _take(self, themes: dict[str, Theme]) -> None:
        for theme in themes.values():
            self.register_theme(theme)
        self.theme_names = list(themes)

    def load_themes(self) -> list[str]:
        themes, problems = every_theme(config_folder() / "themes")
        self._take(themes)
        return problems

    def _theme_called(self, name: str) -> tuple[str, str]:
        """Return the name of a theme that there is, and what is wrong with the one that was named."""
        if name in self.available_themes:
            return name, ""
        from difflib import get_close_matches

        near = get_close_matches(name, self.available_themes, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.theme_names)}"
        return "night-box", f"no theme is called {name!r}: {hint}"

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

    def text_styles(self) -> TextStyles:
        """Return the styles of the theme that is worn."""
        return TextStyles.of(self.get_css_variables(), code_style(self.current_theme))

    def wear(self, name: str) -> None:
        """Put a theme on, and keep it for the next time; an unknown one is told, and the first of ours is worn."""
        name, problem = self._theme_called(name)
        if problem:
            self.notify(problem, severity="warning", markup=False)
        self.theme = name
        self._keep_theme(name)

    @work(thread=True, group="marks", exit_on_error=False)
    def _keep_theme(self, name: str) -> None:
        self.session.keep_theme(name)

    def _theme_changed(self, theme: Theme) -> None:
        if self.main_screen is not None and self.main_screen.is_mounted:
            self.main_screen.set_text_styles(self.text_styles())

    @work(group="themes", exit_on_error=False)
    async def reload_themes(self) -> None:
        """Wear the user's themes anew as they are saved."""
        async for _ in theme_changes(config_folder() / "themes"):
            for problem in self.load_themes():
                self.notify(problem, severity="warning", markup=False)
            self.mutate_reactive(App.theme)
