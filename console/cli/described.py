"""Every command as its parser declares it: what manual pages, completion and the reference are made from."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from console.cli.own_commands import all_commands, module_of
from console.cli.parser import CommandParser, command_parser

COMMON_STATUSES = {
    0: "done",
    1: "refused or failed, with a line on standard error that says why",
    2: "invalid arguments",
    130: "interrupted",
}
"""What the exit statuses of every command mean; a command's own say more."""


class SubAction(NamedTuple):
    """A word after a command that says what it does, such as `register` of `signalbox roster register`."""

    name: str
    summary: str
    is_default: bool


class CommandDescription(NamedTuple):
    """A command: `statuses` are the exit statuses that mean more than in COMMON_STATUSES."""

    name: str
    summary: str
    group: str
    parser: CommandParser
    actions: tuple[SubAction, ...]
    arguments: tuple[argparse.Action, ...]
    options: tuple[argparse.Action, ...]
    epilog: str
    statuses: dict[int, str]


def described(name: str) -> CommandDescription:
    """Return the description of a command; its module is imported."""
    command = all_commands()[name]
    module = module_of(name)
    parser = command_parser(module, name, command.summary)
    usual = parser.get_default("action")
    return CommandDescription(
        name,
        command.summary,
        command.group,
        parser,
        tuple(SubAction(word, words, word == usual) for word, words in getattr(module, "ACTIONS", {}).items()),
        tuple(action for action in parser.actions if not action.option_strings),
        tuple(action for action in parser.actions if action.option_strings),
        parser.epilog or "",
        dict(parser.statuses),
    )


def described_commands() -> Iterator[CommandDescription]:
    """Return the descriptions of all commands, in the order of the help."""
    return map(described, all_commands())
