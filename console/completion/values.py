"""The values that an option or argument may have, by its kind: from the mailbox as it was counted last.

Nothing is read from a mailbox here, so that a long one or a server that does not answer delays no key. A process
of its own counts a mailbox that has changed, for the next key; where nothing is known yet, it is waited for.
"""

from __future__ import annotations

import os
import time

from console.completion.table import kinds
from console.status.names import load_names
from console.status.numbers import FIELDS, load_numbers
from console.status.places import config_path, kept_place

VIEWS = ("all", "for-you", "unread", "dead", "waiting", "archive", "recent")
TIMES = ("1h", "1d", "7d", "today", "yesterday", "last week")
FIELDS_OF_QUERIES = (
    *("from:", "to:", "tag:", "role:", "type:", "thread:", "subject:", "store:", "is:", "before:", "after:", "on:"),
    *("has:", "id:"),
)
STATES = (
    *("unread", "read", "dead", "expired", "waiting", "mentioned", "frozen", "unknown", "unseen"),
    *("undelivered", "unrecorded", "archived", "starred", "muted", "snoozed"),
)
OF_QUERIES = {"from:": "agent", "to:": "address", "tag:": "tag", "role:": "role", "type:": "type", "id:": "message"}
FIRST_SECONDS = 1.5
"""How long a key waits for the first count of a mailbox."""
PAUSE = 0.01


def values(kind: str, typed: str, store: str) -> list[tuple[str, str]]:
    """Return values and their descriptions; `typed` is what there is of the word, `store` the mailbox that is named."""
    if kind in ("types", "tags", "numbers"):
        return _listed(kind, typed, store)
    if kind == "query":
        return _query(typed, store)
    if kind in ("url", "kind"):
        return [(f"{name}:" if kind == "url" else name, words) for name, words in kinds()]
    if kind == "time":
        return [(word, "") for word in TIMES]
    if kind == "theme":
        return _themes()
    wanted = {
        "agent": ("agent",),
        "role": ("role",),
        "tag": ("tag",),
        "type": ("type",),
        "message": ("message",),
        "address": ("agent", "role", "channel"),
        "view": ("channel",),
    }.get(kind)
    if wanted is None:
        return []
    names = _names(store)
    candidates = [(name, words) for group, name, words in names if group in wanted]
    if kind == "address":
        candidates.append(("all", "everyone"))
    if kind == "view":
        candidates = [*((view, "") for view in VIEWS), *candidates]
        candidates += [(f"{group}:{name}", words) for group, name, words in names if group in ("agent", "role")]
    return candidates


def _listed(kind: str, typed: str, store: str) -> list[tuple[str, str]]:
    """Return values for the last place of a list with commas."""
    before = typed.rpartition(",")[0]
    known = [(name, "") for name in FIELDS] if kind == "numbers" else values(kind[:-1], "", store)
    given = before.split(",")
    return [(f"{before},{name}" if before else name, words) for name, words in known if name not in given]


def _query(typed: str, store: str) -> list[tuple[str, str]]:
    field, colon, _ = typed.partition(":")
    if not colon:
        return [(name, "") for name in FIELDS_OF_QUERIES]
    if field == "is":
        return [(f"is:{state}", "") for state in STATES]
    kind = OF_QUERIES.get(f"{field}:")
    return [(f"{field}:{name}", words) for name, words in values(kind, "", store)] if kind else []


def _themes() -> list[tuple[str, str]]:
    import themes

    theme_names = {"auto", *_stems(os.path.dirname(themes.__file__ or ""))}  # noqa: PTH120 - pathlib costs too much
    theme_names |= _stems(f"{os.path.dirname(config_path())}/themes")  # noqa: PTH120
    return [(name, "") for name in sorted(theme_names) if name.isprintable()]


def _stems(folder: str) -> set[str]:
    try:
        return {name.removesuffix(".toml") for name in os.listdir(folder) if name.endswith(".toml")}  # noqa: PTH208
    except OSError:
        return set()


def _names(store: str) -> list[tuple[str, str, str]]:
    """Return what is known of a mailbox."""
    place = kept_place(store)
    kept, names = load_numbers(place), load_names(place)
    if kept is None or not names or not kept.is_certain(time.time()):
        from console.status.starting import start_counting

        is_over = start_counting(place, store)
        until = time.monotonic() + FIRST_SECONDS
        while not names and time.monotonic() < until and not is_over():
            time.sleep(PAUSE)
        return names or load_names(place)
    return names
