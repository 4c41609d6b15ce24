"""The page of commands: every command, its actions, arguments, options and exit statuses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby

from console.cli.described import COMMON_STATUSES, CommandDescription, described_commands
from console.cli.schemas import outputs_of
from manual.reference.markdown import code, page, prose, table

INTRO = """\
Every command with what it takes and prints; `signalbox COMMAND --help` and `man signalbox-COMMAND` say the same."""
COMMON = """\
## What many commands have in common

- *Which mailbox.* `--store URL`, else `$SIGNALBOX_STORE`, else `store` in the [settings](settings.md#settings), else
  the first one found from the working folder upward.
- *When.* `--at TIME` answers as of then. A TIME is an age (`2h`), a time of day (`14:30`), a day (`yesterday`) or a
  date, as in [queries](query-language.md#times); without an offset it is local.
- *For programs.* `--json` prints one JSON document, or one a line ([JSON output](json.md)).
- *Order.* Options may stand before, between and after arguments; after `--` everything is an argument."""
LANGUAGE = "What a query may be is on the page of [the query language](query-language.md)."


def commands_page() -> str:
    """Return the page."""
    parts = ["# Commands", INTRO, _overview(), COMMON, "## Exit statuses", _statuses(COMMON_STATUSES)]
    for group, commands in groupby(described_commands(), key=lambda it: it.group):
        parts.append(f"## {group}")
        for command in commands:
            parts += _section(command)
    return page(*parts)


def _overview() -> str:
    """Return a table of all commands; their sections are called `signalbox NAME`, as groups have names of commands."""
    return table(("command", "purpose"), ((f"[`{it.name}`](#signalbox-{it.name})", prose(it.summary))
                                          for it in described_commands()))  # fmt: skip


def _section(command: CommandDescription) -> Iterator[str]:
    yield f"### signalbox {command.name}"
    yield prose(f"{command.summary}.")
    yield f"```\n{_synopsis(command)}\n```"
    yield table(("action", ""), ((code(it.name), prose(it.summary) + " (default)" * it.is_default)
                                 for it in command.actions))  # fmt: skip
    arguments = [it for it in command.arguments if it.dest != "action" or not command.actions]
    yield table(("argument", ""), ((code(_name(it)), _help(it)) for it in arguments))
    options = [it for it in command.options if it.option_strings[-1] != "--help"]
    yield table(("option", ""), ((code(_option(it)), _help(it)) for it in options))
    if "query language:" in command.epilog:
        yield LANGUAGE
    elif command.epilog:
        yield f"```\n{command.epilog.strip()}\n```"
    if command.statuses:
        yield _statuses(command.statuses)
    if outputs_of(command.name):
        yield f"What it prints as JSON: [{command.name}](json.md#{command.name})."


def _statuses(statuses: dict[int, str]) -> str:
    return table(("exit status", ""), ((str(number), prose(words)) for number, words in statuses.items()))


def _synopsis(command: CommandDescription) -> str:
    words = ["signalbox", command.name]
    if command.actions:
        named = "|".join(it.name for it in command.actions)
        is_needed = any(it.dest == "action" and it.nargs is None for it in command.arguments)
        words.append(named if is_needed else f"[{named}]")
    words += [_usage(it) for it in command.arguments if it.dest != "action" or not command.actions]
    words += [f"{it.option_strings[0]} {_name(it)}" for it in command.options if it.required]
    return " ".join([*words, "[OPTION …]"])


def _usage(argument: argparse.Action) -> str:
    name = _name(argument)
    forms = {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …", "...": f"[{name} …]"}
    return forms.get(str(argument.nargs), name)


def _name(action: argparse.Action) -> str:
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    return "|".join(map(str, action.choices)) if action.choices is not None else action.dest.upper()


def _option(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {_name(action)}"


def _help(action: argparse.Action) -> str:
    words = (action.help or "") % {**vars(action), "prog": "signalbox"} if "%(" in (action.help or "") else action.help
    return prose(words or "") + (" (required)" if action.required and action.option_strings else "")
