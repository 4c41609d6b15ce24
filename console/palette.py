"""The command palette: commands, views, channels, agents and themes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen

from console.command import ANYWHERE, Command
from console.commands import COMMANDS
from console.panes.sidebar_rows import sidebar_rows
from console.render.safe import visible_line
from console.screens.list_screen import ListScreen
from console.screens.main_screen import MainScreen
from console.session import Session
from console.theme_switcher import ThemeSwitcher
from mailstore.store import Capability

__all__ = ["Palette"]

MOST = 1000
"""Views, channels and agents listed at most."""


class ConsoleApp(Protocol):
    """What the palette needs of the application."""

    session: Session
    themes: ThemeSwitcher


def run_command(app: App[Any], here: Screen[Any], action: str) -> None:
    """Run a command's action on the screen on which the palette was opened, as its key would."""
    if action.startswith("app."):
        app.call_later(app.run_action, action)
    else:
        here.call_later(here.run_action, action)


def help_text_of(command: Command, ask: Callable[[Capability], str]) -> str:
    """Return a command's help, with the reason if it is not available here."""
    reason = command.why_not(ask)
    return f"{command.help} · unavailable: {visible_line(reason)}" if reason else command.help


class Palette(Provider):
    """Provides candidates, which are listed once, when the palette opens."""

    _rows: list[tuple[str, str, Callable[[], None]]]

    async def startup(self) -> None:
        """List the candidates."""
        app, here = cast("ConsoleApp", self.app), self.screen
        panes = frozenset({here.NAME}) if isinstance(here, ListScreen) else ANYWHERE
        self._rows = [
            (
                command.name,
                help_text_of(command, app.session.why_not),
                partial(run_command, self.app, here, command.screen_action),
            )
            for command in COMMANDS
            if command.panes & panes
        ]
        for choice in app.themes.choices():
            self._rows.append((f"theme {choice.name}", "Use this theme", choice))
        if isinstance(here, MainScreen):
            for place in sidebar_rows(here.session)[:MOST]:
                if place.view is not None:
                    go = partial(here.show_view, place.view)
                    self._rows.append((f"go {visible_line(place.label)}", "Show threads", go))

    async def discover(self) -> Hits:
        """Show all candidates before anything is typed."""
        for name, help_text, run in self._rows:
            yield DiscoveryHit(Content(name), run, text=name, help=help_text)

    async def search(self, query: str) -> Hits:
        """Show the candidates that match what was typed."""
        matcher = self.matcher(query)
        for name, help_text, run in self._rows:
            score = max(matcher.match(name), 0.6 * matcher.match(help_text))
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=help_text)
