"""What completion knows of the commands, read from `commands.tsv`. Imports nothing but `os`."""

from __future__ import annotations

import os

TABLE = f"{os.path.dirname(os.path.abspath(__file__))}/commands.tsv"  # noqa: PTH100, PTH120 - pathlib costs too much


class Option:
    """An option: its names, whether it takes a value and of which kind, whether it may come again, and its help."""

    __slots__ = ("help", "is_repeatable", "kind", "names", "takes_value")

    def __init__(self, names: str, takes: str, repeats: str, kind: str, words: str) -> None:
        self.names = names.split(",")
        self.takes_value = takes == "value"
        self.is_repeatable = repeats == "again"
        self.kind = kind
        self.help = words


class CommandTable:
    """One command: its sub-actions with their summaries, its options, and the kinds of its arguments."""

    __slots__ = ("actions", "arguments", "options")

    def __init__(self) -> None:
        self.actions: list[tuple[str, str]] = []
        self.options: list[Option] = []
        self.arguments: list[tuple[bool, str]] = []

    def option(self, name: str) -> Option | None:
        """Return the option of a name."""
        return next((option for option in self.options if name in option.names), None)

    def kind_at(self, place: int) -> str:
        """Return the kind of the argument at a place, empty if there can be none."""
        for at, (is_many, kind) in enumerate(self.arguments):
            if at == place or (is_many and at <= place):
                return kind
        return ""


def _lines() -> list[list[str]]:
    with open(TABLE, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def commands() -> list[tuple[str, str]]:
    """Return the commands and their summaries."""
    return [(line[1], line[2]) for line in _lines() if line[0] == "command"]


def kinds() -> list[tuple[str, str]]:
    """Return the kinds of mailbox and their summaries."""
    return [(line[1], line[2]) for line in _lines() if line[0] == "kind"]


def table_of(name: str) -> CommandTable:
    """Return what is known of a command; nothing of an unknown one."""
    table, is_it = CommandTable(), False
    for head, *rest in _lines():
        if head in ("command", "kind"):
            is_it = (head, rest[0]) == ("command", name)
        elif not is_it:
            continue
        elif head == "action":
            table.actions.append((rest[0], rest[1]))
        elif head == "option":
            table.options.append(Option(*rest))
        else:
            table.arguments.append((rest[0] == "many", rest[1]))
    return table
