"""The programs whose hooks are installed: one module each says which files, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from console.hooks.install.hook_additions import Wanted
from console.hooks.install.own_command import HookOptions

__all__ = ["NAMES", "OwnText", "Part", "ProgramFiles", "SettingsPart", "Target", "Version", "program_files"]

NAMES = ("claude-code", "codex", "gemini", "opencode", "copilot", "shell")
Version = tuple[int, ...]
GATE_SECONDS = 600
"""How long a hook may hold a tool call: longer than it does (`console.hooks.gate`), since past that the tool runs."""


class Target(NamedTuple):
    """Where hooks are installed: a project's folder, or the user's settings."""

    folder: Path
    is_user: bool
    home: Path
    env: Mapping[str, str]

    def user_folder(self, variable: str, default: str) -> Path:
        """Return a program's folder of settings: what its variable names, or the usual one below the home folder."""
        named = self.env.get(variable, "").strip()
        return Path(named) if named.startswith("/") else self.home / default


class SettingsPart(NamedTuple):
    """A settings file that is to hold our entries; None where it should hold none.

    `names` are the texts in its lists that are ours.
    """

    path: Path
    wanted: Wanted | None
    names: Mapping[str, Sequence[str]] = {}


class OwnText(NamedTuple):
    """A file that is ours as a whole; None where there should be none. `is_ours` knows each version of its text."""

    path: Path
    text: str | None
    is_ours: Callable[[str], bool]


Part = SettingsPart | OwnText


class ProgramFiles(Protocol):
    """What a module of this package offers."""

    NAME: str
    TITLE: str
    COMMAND: str
    """Its command on the PATH; empty if it has none."""
    PACKAGE: str
    """Its npm package, from which its version is read faster than from the program; empty if it has none."""
    MARKS: tuple[str, ...]
    """Files or folders whose presence in a project shows that it is used there."""

    def parts(self, target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
        """Return the files, with what they hold; without options (to uninstall) nothing of ours is in any."""

    def instruction_file(self, target: Target) -> Path | None:
        """Return the file of instructions that the program's model reads; None if it has none."""

    def remarks(self, target: Target, options: HookOptions, version: Version | None) -> list[str]:
        """Return what only the user can do, and what they should know."""


def program_files(name: str) -> ProgramFiles:
    """Return the module of a program."""
    return cast("ProgramFiles", import_module(f"console.hooks.install.programs.{name.replace('-', '_')}"))
