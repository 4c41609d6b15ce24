"""Make `commands.tsv`, what completion knows of the commands, from their parsers (`python -m manual.reference`).

A parser with its module takes too long for each press of a key; a test says that the table is current.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import asdict

from console.cli.described import CommandDescription, described_commands
from console.cli.schemas import all_outputs
from console.settings.config import whole_config
from mailstore.registry import kinds, store_class

BY_METAVAR = {
    "URL": "url",
    "ID": "agent",
    "AGENT": "agent",
    "ADDR": "address",
    "TO SUBJECT BODY": "address",
    "MSG": "message",
    "R": "role",
    "A,B": "tags",
    "KIND": "kind",
    "VIEW": "view",
    "T": "type",
    "T,T": "types",
    "QUERY": "query",
    "FILE": "file",
    "DIR": "file",
    "PATH": "file",
    "PLACE": "file",
    "COMMAND": "file",
    "TIME": "time",
    "TS": "time",
}
BY_PLACE = {
    ("convert", "source"): "url",
    ("convert", "target"): "url",
    ("mirror", "first"): "url",
    ("mirror", "second"): "url",
    ("send", "thread"): "message",
    ("export", "thread"): "message",
    ("dead-letters", "ids"): "message",
    ("dead-letters", "recipient"): "agent",
    ("open", "theme"): "theme",
    ("demo", "theme"): "theme",
    ("status", "any"): "numbers",
}
"""The kinds of values by command and destination, where the word in the help means several things."""


def _kind(name: str, action: argparse.Action) -> str:
    if action.choices is not None:
        return "=" + ",".join(map(str, action.choices))
    if (name, action.dest) == ("config", "name"):
        return "=" + ",".join(_settings())
    if (name, action.dest) == ("schema", "name"):
        return "=" + ",".join(all_outputs())
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return BY_PLACE.get((name, action.dest)) or BY_METAVAR.get(metavar, "")


def _settings() -> Iterator[str]:
    """Yield the names of all settings that `config set` can write, but those of tables whose names are free."""
    for name, value in asdict(whole_config()()).items():
        inner = asdict(value) if isinstance(value, Struct) else {}
        yield from [name] if not inner and not isinstance(value, dict) else (f"{name}.{each}" for each in inner)


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _lines(description: CommandDescription) -> Iterator[tuple[str, ...]]:
    yield "command", description.name, description.summary
    for word in description.actions:
        yield "action", word.name, word.summary
    for option in description.options:
        takes = "flag" if option.nargs == 0 else "value"
        repeats = "again" if isinstance(option, argparse._AppendAction) else "once"
        yield "option", ",".join(option.option_strings), takes, repeats, _kind(description.name, option), _help(option)
    for argument in description.arguments:
        many = "many" if argument.nargs in ("*", "+") else "one"
        kind = "action" if argument.dest == "action" else _kind(description.name, argument)
        if description.actions and argument.dest == "words":
            kind = "action+file"
        yield "argument", many, kind


def table_text() -> str:
    """Return the table: our kinds of mailbox; each command, then lines for its actions, options and arguments."""
    classes = {kind: store_class(kind) for kind in kinds()}
    ours = {kind: value for kind, value in classes.items() if value.__module__.startswith("mailstore.")}
    lines: list[tuple[str, ...]] = [("kind", kind, ours[kind].summary) for kind in sorted(ours)]
    lines += [line for described_command in described_commands() for line in _lines(described_command)]
    return "".join("\t".join(" ".join(part.split()) for part in line) + "\n" for line in lines)
