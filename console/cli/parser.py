"""Parse the arguments of one command and run it: argparse with one-line errors in the program's own form."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from console.cli.terminal_io import in_encoding
from console.errors import UsedWrongly

NUMBERS = {"int": "a whole number", "float": "a number"}
CHOICE = re.compile(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", re.DOTALL)
VALUE = re.compile(r"argument (\S+): invalid (int|float) value: '(.*)'", re.DOTALL)
MISSING_VALUE = re.compile(r"argument (\S+): expected .*")
REQUIRED = re.compile(r"the following arguments are required: (.*)")
UNEXPECTED = re.compile(r"unrecognized arguments: (\S+).*", re.DOTALL)


class CommandParser(argparse.ArgumentParser):
    """Parse a command's arguments; raises UsedWrongly, and exits only for `--help`."""

    def __init__(self, prog: str, summary: str) -> None:
        self.actions: list[argparse.Action] = []
        self.statuses: Mapping[int, str] = {}
        super().__init__(prog=prog, description=f"{summary}.", allow_abbrev=False, add_help=False)
        self.add_argument("-h", "--help", action="help", help="Show this help")

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument as argparse does, and remember it."""
        action = super().add_argument(*names, **settings)
        if action.nargs == "*" and not action.option_strings:
            action.required = False  # argparse calls it missing where another argument is
        self.actions.append(action)
        return action

    def format_help(self) -> str:
        """Return the help, with what an exit status means where it means more than an error."""
        if not self.statuses:
            return super().format_help()
        from shutil import get_terminal_size
        from textwrap import fill

        width = get_terminal_size().columns - 2
        lines = [
            fill(words, width, initial_indent=f"  {number}  ", subsequent_indent=" " * 5)
            for number, words in self.statuses.items()
        ]
        return "\n".join([super().format_help(), "exit status:", *lines, ""])

    def print_help(self, file: Any = None) -> None:
        """Print the help, whatever the encoding of the output lacks."""
        print(in_encoding(self.format_help()), end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Raise UsedWrongly for an error of argparse."""
        problem, remedy = self._worded(message.rstrip())
        raise UsedWrongly(problem, remedy or f"see {self.prog} --help")

    def _worded(self, message: str) -> tuple[str, str]:
        """Return problem and remedy for a message of argparse; no remedy where only the help can tell."""
        if match := CHOICE.fullmatch(message):
            name, value, choices = match.groups()
            return f'{name} can\'t be "{value}"', f"use {choices.replace(chr(39), '')}"
        if match := VALUE.fullmatch(message):
            name, kind, value = match.groups()
            return f'{name} can\'t be "{value}"', f"give {NUMBERS[kind]}"
        if match := MISSING_VALUE.fullmatch(message):
            return f"{match[1]} needs a value", ""
        if match := REQUIRED.fullmatch(message):
            return f"{match[1]} {'are' if ', ' in match[1] else 'is'} required", self._choices_of(match[1])
        if match := UNEXPECTED.fullmatch(message):
            return self._unexpected(match[1])
        return message, ""

    def _choices_of(self, name: str) -> str:
        known = [
            choice
            for action in self.actions
            if name in (action.metavar, action.dest)
            for choice in action.choices or ()
        ]
        return f"use {', '.join(map(str, known))}" if known else ""

    def _unexpected(self, word: str) -> tuple[str, str]:
        if not word.startswith("-"):
            return f'unexpected argument "{word}"', ""
        names = [name for action in self.actions for name in action.option_strings]
        near = get_close_matches(word.partition("=")[0], names, n=1)
        return f"unknown option {word.partition('=')[0]}", f"did you mean {near[0]}?" if near else ""


def command_parser(module: Any, name: str, summary: str) -> CommandParser:
    """Return the parser of a command, with its arguments and what its exit statuses mean."""
    parser = CommandParser(f"signalbox {name}", summary)
    module.add_arguments(parser)
    parser.statuses = getattr(module, "STATUSES", {})
    return parser


def run_module(module: Any, name: str, summary: str, words: list[str]) -> int:
    """Parse the arguments of a command, which has this module, and run it; return the exit status."""
    parser = command_parser(module, name, summary)
    if hasattr(module, "arrange"):
        words = module.arrange(words)
    # options may stand between the arguments; everything after -- is an argument
    parse = parser.parse_args if "--" in words else parser.parse_intermixed_args
    status: int = module.run(parse(words))
    return status
