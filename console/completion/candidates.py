"""What may come next in a command line. Imports next to nothing: a press of a key waits for it."""

from __future__ import annotations

import os
import time

from console.completion.table import CommandTable, commands, kinds, table_of
from console.status.numbers import FIELDS, config_path, kept_place, load_names, load_numbers

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
        from console.status.numbers import start_counting

        is_over = start_counting(place, store)
        until = time.monotonic() + FIRST_SECONDS
        while not names and time.monotonic() < until and not is_over():
            time.sleep(PAUSE)
        return names or load_names(place)
    return names


GLOBAL = ("--store", "--observe", "--plain", "--theme", "--as", "--poll", "--at")
FIRST = [("--help", "Show the commands"), ("--version", "Show the version")]


class Completions:
    """Whole words with their descriptions, all of which continue what was typed; and whether a path may stand here."""

    __slots__ = ("before", "has_paths", "words")

    def __init__(self, words: list[tuple[str, str]], *, has_paths: bool = False, before: str = "") -> None:
        self.words = words
        self.has_paths = has_paths
        self.before = before
        """What stands before the path in the word, such as `--store=` or `haak:`."""


def candidates(words: list[str]) -> Completions:
    """Return what may stand in place of the last of some words, the first of which follows the program's name."""
    *before, typed = words
    name, rest = _command(before)
    if name == "":
        return _first(before, typed)
    if name == "help":
        return _starting(commands(), typed) if not rest else Completions([])
    table = table_of(name)
    places, used, pending, has_ended = 0, set(), None, False
    for word in rest:
        if pending is not None:
            pending = None
        elif has_ended or not word.startswith("-") or word == "-":
            places += 1
        elif word == "--":
            has_ended = True
        elif (option := table.option(word.partition("=")[0])) is not None:
            used.add(option.names[0])
            pending = option if option.takes_value and "=" not in word else None
    store = _store(before)
    if pending is not None:
        return _values(pending.kind, typed, store, table)
    if typed.startswith("-") and not has_ended:
        return _option(table, typed, used, store)
    return _values(table.kind_at(places), typed, store, table)


def _command(before: list[str]) -> tuple[str, list[str]]:
    """Return the command's name and the words after and before it; an empty name if it comes next."""
    at = 0
    known = {name for name, _ in commands()} | {"help"}
    while at < len(before):
        word = before[at]
        if word.startswith("-"):
            at += 2 if word in ("--store", "--as", "--theme", "--at") else 1
            continue
        return (word if word in known else "open"), before[:at] + before[at + (word in known) :]
    return "", []


def _first(before: list[str], typed: str) -> Completions:
    """Return the commands, or what opens a mailbox at once."""
    table = table_of("open")
    if before and (option := table.option(before[-1])) is not None and option.takes_value:
        return _values(option.kind, typed, "", table)
    if typed.startswith("-"):
        options = _option(table, typed, set(before), "")
        return Completions(options.words + _starting(FIRST, typed).words, has_paths=options.has_paths)
    completions = _starting([*commands(), ("help", "Show the help of a command")], typed)
    if completions.words and not any(char in typed for char in "/.~:"):
        return completions
    return _values("url", typed, "", table)


def _store(words: list[str]) -> str:
    """Return the mailbox that a line names; empty if it names none."""
    for at, word in enumerate(words):
        if word.startswith("--store="):
            return word.removeprefix("--store=")
        if word == "--store" and at + 1 < len(words):
            return words[at + 1]
    return ""


def _option(table: CommandTable, typed: str, used: set[str], store: str) -> Completions:
    name, equals, value = typed.partition("=")
    if equals:
        option = table.option(name)
        if option is None or not option.takes_value:
            return Completions([])
        completions = _values(option.kind, value, store, table)
        return Completions(
            [(f"{name}={word}", words) for word, words in completions.words],
            has_paths=completions.has_paths,
            before=f"{name}={completions.before}",
        )
    left = [option for option in table.options if option.is_repeatable or option.names[0] not in used]
    return _starting([(word, option.help) for option in left for word in option.names], typed)


def _values(kind: str, typed: str, store: str, table: CommandTable) -> Completions:
    if kind.startswith("="):
        return _starting([(word, "") for word in kind[1:].split(",")], typed)
    if kind.startswith("action"):
        return Completions(_starting(table.actions, typed).words, has_paths=kind.endswith("+file"))
    if kind == "file":
        return Completions([], has_paths=True)
    if kind == "url" and ":" in typed:
        return Completions([], has_paths="://" not in typed, before=f"{typed.partition(':')[0]}:")
    completions = _starting(values(kind, typed, store), typed)
    return Completions(completions.words, has_paths=kind == "url" and not completions.words)


def _starting(found: list[tuple[str, str]], typed: str) -> Completions:
    return Completions([(word, words) for word, words in found if word.startswith(typed)])
