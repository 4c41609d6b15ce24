"""The commands that kinds of mailbox have of their own, beside the console's (`mailstore.own_commands`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from console.cli.document import JsonOutput
from console.cli.options import json_option, mailbox_options
from console.commands.shell import COMMANDS, CliCommand
from mailstore.errors import UnknownStore
from mailstore.registry import own_commands

if TYPE_CHECKING:
    import argparse

    from mailstore.installed_kinds import OwnCommand
    from mailstore.own_commands import AlignedRows, CommandAnswer, Program
    from mailstore.state.mailbox import Mailbox
    from mailstore.store import Store

GROUP = "Mailbox"
"""Where the help lists them, after the console's own."""


def all_commands() -> dict[str, CliCommand]:
    """Return the console's commands and those of kinds, by group; the console's go first."""
    added = {
        name: CliCommand(own.module, own.summary, GROUP) for name, own in own_commands().items() if name not in COMMANDS
    }
    groups = list(dict.fromkeys(command.group for command in COMMANDS.values()))
    return dict(sorted({**COMMANDS, **added}.items(), key=lambda item: groups.index(item[1].group)))


@cache
def module_of(name: str) -> Any:
    """Return the module of a command, or what stands for it: `add_arguments`, `run`, ACTIONS … Raises UnknownStore."""
    if name in COMMANDS:
        return import_module(f"console.cli.{COMMANDS[name].module}")
    return OwnModule(own_commands()[name])


class OwnModule:
    """A kind's command, as a module of this package."""

    def __init__(self, command: OwnCommand) -> None:
        try:
            module = import_module(command.module)
        except ImportError as error:
            raise UnknownStore(
                f"{command.name} can't be loaded ({error})", "fix or remove its package", "E155"
            ) from error
        self._module: Any = module
        self.ACTIONS = getattr(module, "ACTIONS", {})
        self.STATUSES = getattr(module, "STATUSES", {})
        self.OUTPUTS = tuple(JsonOutput(kind, *when) for kind, when in getattr(module, "ANSWERS", {}).items())

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options, its own and those of all commands."""
        self._module.add_arguments(parser)
        if getattr(self._module, "USES_MAILBOX", False):
            mailbox_options(parser, json=False)
        if self.OUTPUTS:
            json_option(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and print its answer."""
        is_json = getattr(args, "json", False)
        program: Program = _Running(args, is_silent=is_json)
        try:
            answer: CommandAnswer = self._module.run(args, program)
        finally:
            program.show_status("")
        if is_json and answer.document is not None:
            next(output for output in self.OUTPUTS if output.kind is type(answer.document)).put(answer.document)
        elif not is_json:
            from console.cli.plain import put
            from console.render.safe import visible_line

            for line in answer.lines:
                put(visible_line(line) if isinstance(line, str) else _aligned(line))
        return answer.status


class _Running:
    """The program, as a command that runs may use it."""

    def __init__(self, args: argparse.Namespace, *, is_silent: bool) -> None:
        from console.cli.progress import StatusLine

        self._args = args
        self._status = StatusLine(is_shown=not is_silent)

    @property
    def mailbox_url(self) -> str:
        from console.cli.loading import mailbox_url
        from console.cli.settings import settings

        return mailbox_url(None, settings().store)

    @contextmanager
    def mailbox(self) -> Iterator[tuple[Store, Mailbox]]:
        from console.cli.loading import loaded

        with loaded(self._args) as mail:
            yield mail.store, mail.mailbox

    def say(self, words: str) -> None:
        from console.cli.plain import put
        from console.render.safe import visible_line

        put(visible_line(words))
        sys.stdout.flush()

    def tell(self, problem: str, remedy: str = "") -> None:
        from console.cli.terminal_io import tell

        self._status.above(lambda words: tell(words, remedy))(problem)

    def warn(self, words: str) -> None:
        from console.cli.terminal_io import warn

        self._status.above(warn)(words)

    def show_status(self, words: str) -> None:
        if words:
            self._status.show(words)
        else:
            self._status.clear()


def _aligned(table: AlignedRows) -> str:
    from console.cli.plain import columns

    lines = columns(table.rows, table.headings).splitlines()
    return "\n".join(f"{table.before}{line}".rstrip() for line in lines)
