"""The parser of one command's words: argparse whose errors are one line."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import Any, NoReturn

from console.cli.problems import UsedWrongly

__all__ = ["CommandParser"]


class CommandParser(argparse.ArgumentParser):
    """Parse a command's words; raises UsedWrongly, never leaves the program by itself but for `--help`."""

    def __init__(self, prog: str, summary: str) -> None:
        self._options: list[str] = []
        super().__init__(prog=prog, description=f"{summary[:1].upper()}{summary[1:]}.", allow_abbrev=False)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument as argparse does, and remember how it can be written."""
        action = super().add_argument(*names, **settings)
        self._options.extend(action.option_strings)
        return action

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would have printed, with the option that was perhaps meant."""
        raise UsedWrongly(message.rstrip(), self._near(message) or f"see {self.prog} --help")

    def _near(self, message: str) -> str:
        head, _, rest = message.partition("unrecognized arguments: ")
        if head or not rest.startswith("-"):
            return ""
        near = get_close_matches(rest.split()[0].partition("=")[0], self._options, n=1)
        return f"did you mean {near[0]}?" if near else ""
