"""Read what a command needs of the user's settings and state, at little cost where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from console.cli.terminal_io import warn
from mailstore.files.folder import may_exist
from mailstore.records.events import Event, Seen
from mailstore.rules.retention import EVERYTHING, Retention

if TYPE_CHECKING:
    from console.quiet.marks import QuietMarks
    from console.settings.config import HookSettings
    from console.state.personal_state import PersonalState
    from console.state.remembered import RememberedValues

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
    hooks: HookSettings | None = None
    """When tool calls need attention; None for the usual limits."""


def settings(*, is_told: bool = True) -> Settings:
    """Read the settings and warn of errors in them; without a settings file, only its existence is checked.

    `is_told` is false for callers that report errors themselves, such as the console.
    """
    from platformdirs import user_config_path

    if not may_exist(user_config_path("signalbox") / "config.toml"):
        return Settings()
    from console.settings.config_file import load_config

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
        config.hooks,
    )


@contextmanager
def _personal_state() -> Iterator[PersonalState | None]:
    """Open the console's own state; None where there is none yet."""
    from platformdirs import user_state_path

    path = user_state_path("signalbox") / "state.db"
    if not may_exist(path):
        yield None
        return
    from console.state.personal_state import PersonalState

    with closing(PersonalState(path)) as state:
        yield state


def last_here(mailbox_url: str) -> float | None:
    """Return when the user last used the console on a mailbox, in seconds since the epoch; None if never."""
    with _personal_state() as state:
        left = None if state is None else _remembered(state, mailbox_url).recall("left")
    return float(left) if isinstance(left, int | float) else None


def _remembered(state: PersonalState, mailbox_url: str) -> RememberedValues:
    from console.state.remembered import RememberedValues

    values = RememberedValues()
    values.load(state.database, mailbox_url)
    return values


def saved_views(mailbox_url: str) -> dict[str, str]:
    """Return the saved views: queries by name, from the settings and from the console."""
    from console.settings.config_file import load_config

    kept = dict(load_config()[0].views)
    with _personal_state() as state:
        return kept if state is None else {**kept, **state.views(mailbox_url)}


def joined_channels(mailbox_url: str) -> frozenset[str]:
    """Return the tags of the channels that the user has joined in the console."""
    with _personal_state() as state:
        return frozenset() if state is None else state.joined(mailbox_url)


def seen_marks(mailbox_url: str) -> list[Event]:
    """Return what the user has seen, muted, snoozed and starred in a mailbox, as recorded by the console."""
    with _personal_state() as state:
        if state is None:
            return []
        from console.quiet.marks import read_marks

        marks: list[Event] = [*map(Seen, state.seen(mailbox_url)[0]), read_marks(state.database, mailbox_url)]
        if state.database.problem:
            warn(state.database.problem)
        return marks


def put_off(mailbox_url: str) -> tuple[QuietMarks, frozenset[str]]:
    """Return what the user snoozed in a mailbox, and the keys of the concerns that they acknowledged."""
    from console.concerns import ACKNOWLEDGED
    from console.quiet.marks import QuietMarks

    quiet = QuietMarks()
    with _personal_state() as state:
        if state is None:
            return quiet, frozenset()
        quiet.load(state.database, mailbox_url)
        return quiet, frozenset(_remembered(state, mailbox_url).recall(ACKNOWLEDGED, ()))
