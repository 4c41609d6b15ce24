"""What a console is given that somebody else looks at: no state of the user's, and none of their commands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from console.settings.config import Config
from console.state.personal_state import PersonalState

ON_THE_MACHINE = frozenset({"desktop", "command"})
"""Ways of notifying that reach the user at this machine, whom their own console notifies."""


def guest_config(config: Config) -> Config:
    """Return the user's settings for somebody else: nothing is written, and no program is run."""
    settings = config.notifications
    ways = {name: _shown(getattr(settings, name)) for name in ("to_me", "question", "dead_letter", "channel")}
    return replace(config, observe=True, notifications=replace(settings, command="", **ways))


@contextmanager
def guest_state() -> Iterator[PersonalState]:
    """Keep what a guest has seen and arranged until they leave; the user's drafts, views and marks are not there."""
    with tempfile.TemporaryDirectory(prefix="signalbox-guest-") as folder:
        state = PersonalState(Path(folder) / "state.db")
        try:
            yield state
        finally:
            state.close()


def _shown(ways: list[str]) -> list[str]:
    return [way for way in ways if way not in ON_THE_MACHINE]
