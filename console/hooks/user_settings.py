"""The settings that hooks honour, read without the modules that check all of them. Imports next to nothing."""

from __future__ import annotations

from mailstore.files.user_folders import user_folder
from mailstore.files.whole import read_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ANSWER_SECONDS = 10.0


def configured_store(env: Mapping[str, str]) -> str:
    """Return the mailbox that the settings name; empty if they name none."""
    value = _settings(env, b"store").get("store")
    return value if isinstance(value, str) else ""


def configured_tags(env: Mapping[str, str]) -> list[str]:
    """Return the tags that every agent gets: `tags` in the table [hooks]."""
    table = _settings(env, b"hooks").get("hooks")
    tags = table.get("tags") if isinstance(table, dict) else None
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def configured_answer_seconds(env: Mapping[str, str], most: float) -> float:
    """Return how long a permission is waited for where the program doesn't ask meanwhile: `answer_seconds` in [hooks].

    At most so many seconds.
    """
    table = _settings(env, b"answer_seconds").get("hooks")
    seconds = table.get("answer_seconds") if isinstance(table, dict) else None
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return ANSWER_SECONDS
    return min(most, max(0.0, seconds))


def names_the_user(env: Mapping[str, str]) -> bool:
    """Say whether the settings give the user another name in the mailbox."""
    return "user" in _settings(env, b"user")


def _settings(env: Mapping[str, str], word: bytes) -> dict[str, Any]:
    """Return the settings if a word stands in them: parsing costs more than most hooks do."""
    try:
        data = read_whole(f"{user_folder('CONFIG', env)}/config.toml", follow=True)
    except OSError:
        return {}
    if word not in data:
        return {}
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return {}
