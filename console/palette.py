"""Every command under its name, and every view, channel, agent and theme, to be found by typing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen

from console.command import Command
from console.commands import ANYWHERE, COMMANDS
from console.dressing import Dressing
from console.panes.sidebar_rows import sidebar_rows
from console.render.safe import visible_line
from console.screens.list_screen import ListScreen
from console.screens.main_screen import MainScreen
from mailstore.store import Capability

__all__ = ["Palette"]

MOST = 1000


def run_command(app: Dressing, here: Screen[Any], action: str) -> None:
    """Run a command's action as its key would, on the screen from which the palette was opened."""
    if action.startswith("app."):
        app.call_later(app.run_action, action)
    else:
        here.call_later(here.run_action, action)


def told(command: Command, ask: Callable[[Capability], str]) -> str:
    """Return what a command does, and why it can't be done here."""
    reason = command.why_not(ask)
    return f"{command.help} · can't here: {visible_line(reason)}" if reason else command.help


class Palette(Provider):
    """Candidates are listed once, when the palette opens."""

    _rows: list[tuple[str, str, Callable[[], None]]]

    async def startup(self) -> None:
        """List what can be chosen now."""
        app, here = self.app, self.screen
        assert isinstance(app, Dressing)
        panes = frozenset({here.NAME}) if isinstance(here, ListScreen) else ANYWHERE
        self._rows = [
            (command.name, told(command, app.session.why_not), partial(run_command, app, here, command.screen_action))
            for command in COMMANDS
            if command.panes & panes
        ]
        for name in app.theme_names:
            self._rows.append((f"theme {name}", "Wear this theme", partial(app.wear, name)))
        if isinstance(here, MainScreen):
            for place in sidebar_rows(here.session)[:MOST]:
                if place.view is not None:
                    go = partial(here.show_view, place.view)
                    self._rows.append((f"go {visible_line(place.label)}", "Look at its threads", go))

    async def discover(self) -> Hits:
        """Show everything while nothing is typed."""
        for name, help_text, run in self._rows:
            yield DiscoveryHit(Content(name), run, text=name, help=help_text)

    async def search(self, query: str) -> Hits:
        """Show what matches what is typed."""
        matcher = self.matcher(query)
        for name, help_text, run in self._rows:
            score = max(matcher.match(name), 0.6 * matcher.match(help_text))
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=help_text)
