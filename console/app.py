"""The application: opens the console on a store, feeds it, and dresses it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import App
from textual.theme import Theme

from console.config import Config
from console.feed import carry
from console.ink import Ink
from console.keymap import read_keymap
from console.palette import Palette
from console.screens.desk import Look
from console.screens.main import MainScreen
from console.session import Session
from console.state import State
from console.theming import load_themes, theme_changes
from mailstore.errors import StoreError
from mailstore.events import Event, Reset
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
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._config = config
        self.session = Session(store, state or State(), config, user=user, observe=observe, clock=clock)
        self._problems: list[str] = []
        self._wanted_theme = theme or config.theme
        self.theme_names: list[str] = []
        self.desk: MainScreen | None = None
