"""Read what a command needs of the user's settings and state, at little cost where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from console.cli.terminal_io import warn
from mailstore.records.events import Event, Seen
from mailstore.rules.retention import EVERYTHING, Retention

if TYPE_CHECKING:
    from console.quiet.marks import QuietMarks

STALE_SECONDS = 1800.0


class Settings(Struct, frozen=True):
    """The settings that every command honours."""

    store: str = ""
    user: str = "user"
    poll: bool = False
    archive_keep: int | None = None
    retention: Retention = EVERYTHING
    stale_seconds: float = STALE_SECONDS
    to_user: tuple[str, ...] = ()
    wake_types: tuple[str, ...] | None = None
    """The types of messages that wake; None for the usual ones."""
    wake_command: tuple[str, ...] = ()


def settings(*, is_told: bool = True) -> Settings:
    """Read the settings and warn of errors in them; without a settings file, only its existence is checked.

    `is_told` is false for callers that report errors themselves, such as the console.
    """
    from platformdirs import user_config_path

    if not (user_config_path("signalbox") / "config.toml").exists():
        return Settings()
    from console.config_file import load_config

    config, problems = load_config()
    for problem in problems if is_told else ():
        warn(problem)
    return Settings(
        config.store or "",
        config.user,
        config.poll,
        config.archive.keep,
        config.retention.rule(),
        config.stale_after_minutes * 60,
        tuple(config.policy.to_user),
        tuple(config.wake.types),
        tuple(config.wake.command),
    )


def last_here(mailbox_url: str) -> float | None:
    """Return when the person last used the console on a mailbox, in seconds since the epoch; None if never."""
    from platformdirs import user_state_path

    path = user_state_path("signalbox") / "state.db"
    if not path.exists():
        return None
    from console.remembered import RememberedValues
    from console.state import PersonalState

    state = PersonalState(path)
    try:
        values = RememberedValues()
        values.load(state.database, mailbox_url)
    finally:
        state.close()
    left = values.recall("left")
    return float(left) if isinstance(left, int | float) else None


def saved_views(mailbox_url: str) -> dict[str, str]:
    """Return the saved views: queries by name, from the settings and from the console."""
    from platformdirs import user_state_path

    from console.config_file import load_config

    kept = dict(load_config()[0].views)
    path = user_state_path("signalbox") / "state.db"
    if not path.exists():
        return kept
    from console.state import PersonalState

    state = PersonalState(path)
    try:
        return {**kept, **state.views(mailbox_url)}
    finally:
        state.close()


def joined_channels(mailbox_url: str) -> frozenset[str]:
    """Return the tags of the channels that the user has joined in the console."""
    from platformdirs import user_state_path

    path = user_state_path("signalbox") / "state.db"
    if not path.exists():
        return frozenset()
    from console.state import PersonalState

    state = PersonalState(path)
    try:
        return state.joined(mailbox_url)
    finally:
        state.close()


def seen_marks(mailbox_url: str) -> list[Event]:
    """Return what the user has seen, muted, snoozed and starred in a mailbox, as recorded by the console."""
    from platformdirs import user_state_path

    path = user_state_path("signalbox") / "state.db"
    if not path.exists():
        return []
    from console.quiet.marks import read_marks
    from console.state import PersonalState

    state = PersonalState(path)
    try:
        return [*map(Seen, state.seen(mailbox_url)[0]), read_marks(state.database, mailbox_url)]
    finally:
        state.close()


def put_off(mailbox_url: str) -> tuple[QuietMarks, frozenset[str]]:
    """Return what the user snoozed in a mailbox, and the keys of the concerns that they acknowledged."""
    from platformdirs import user_state_path

    from console.concerns_listed import ACKNOWLEDGED
    from console.quiet.marks import QuietMarks

    quiet = QuietMarks()
    path = user_state_path("signalbox") / "state.db"
    if not path.exists():
        return quiet, frozenset()
    from console.remembered import RememberedValues
    from console.state import PersonalState

    values, state = RememberedValues(), PersonalState(path)
    try:
        values.load(state.database, mailbox_url)
        quiet.load(state.database, mailbox_url)
    finally:
        state.close()
    return quiet, frozenset(values.recall(ACKNOWLEDGED, ()))
