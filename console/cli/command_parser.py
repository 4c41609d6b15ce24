"""The parser of one command, made from its module."""

from __future__ import annotations

from types import ModuleType

from console.cli.parser import CommandParser


def command_parser(module: ModuleType, name: str, summary: str) -> CommandParser:
    """Return the parser of a command, with its arguments and what its exit statuses mean."""
    parser = CommandParser(f"signalbox {name}", summary)
    module.add_arguments(parser)
    parser.statuses = getattr(module, "STATUSES", {})
    return parser
