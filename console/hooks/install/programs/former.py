"""Programs whose hooks earlier versions installed: where these are, so that they can be found and removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from console.hooks.install.own_command import HookOptions
from console.hooks.install.programs import OwnText, Part, SettingsPart, Target, Version


@dataclass
class FormerProgram:
    """A program with one file of hooks, and maybe a description that was ours as a whole; paths from its folder."""

    NAME: str
    TITLE: str
    hooks: str
    description: str = ""
    COMMAND: str = ""
    PACKAGE: str = ""
    MARKS: tuple[str, ...] = ()

    def parts(self, target: Target, options: HookOptions | None, version: Version | None) -> list[Part]:
        """Return the files, with nothing of ours in them."""
        folder = target.home if target.is_user else target.folder
        parts: list[Part] = [SettingsPart(folder / self.hooks, None)]
        if self.description:
            parts.append(OwnText(folder / self.description, None, lambda text: "`signalbox hook install`" in text))
        return parts

    def instruction_file(self, target: Target) -> Path | None:
        """Return AGENTS.md; there was none for the user."""
        return None if target.is_user else target.folder / "AGENTS.md"

    def remarks(self, target: Target, options: HookOptions, version: Version | None) -> list[str]:
        """Return nothing: these are not installed."""
        return []


FORMER_PROGRAMS = (
    FormerProgram("cursor", "Cursor", ".cursor/hooks.json"),
    FormerProgram(
        "goose", "Goose", ".agents/plugins/signalbox/hooks/hooks.json", ".agents/plugins/signalbox/plugin.json"
    ),
)
