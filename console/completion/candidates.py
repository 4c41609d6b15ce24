"""What may come next in a command line. Imports next to nothing: a press of a key waits for it."""

from __future__ import annotations

from console.completion.table import CommandTable, commands, table_of
from console.completion.values import values

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
