"""The programs that are tested: which version, where it is installed, and why one is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".venv" / "agents"
NODE = FOLDER / "bin" / "node"
"""A link to the node that runs the programs which are written for it."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its npm packages with their versions, and the command that they bring."""

    name: str
    command: str
    packages: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Return where its packages are installed."""
        return FOLDER / self.name

    @property
    def path(self) -> Path:
        """Return the command."""
        return self.folder / "node_modules" / ".bin" / self.command

    @property
    def stamp(self) -> Path:
        """Return the file that names the installed packages; written last."""
        return self.folder / "installed.txt"

    @property
    def failure(self) -> Path:
        """Return the file that says why it could not be installed."""
        return FOLDER / f"{self.name}.failed.txt"

    @property
    def is_installed(self) -> bool:
        """Say whether exactly these packages are installed."""
        return self.stamp.is_file() and self.stamp.read_text("utf-8").split() == list(self.packages)

    @property
    def missing(self) -> str:
        """Say why it can't be run, or "" where it can."""
        if self.is_installed:
            return ""
        why = self.failure.read_text("utf-8").strip() if self.failure.is_file() else "make test-agents installs it"
        return f"{self.packages[0]} is not installed: {why}"


PROGRAMS = (
    Program("claude-code", "claude", ("@anthropic-ai/claude-code@2.1.330",)),
    Program("codex", "codex", ("@openai/codex@0.169.0",)),
    Program("gemini", "gemini", ("@google/gemini-cli@0.61.0",)),
    Program("opencode", "opencode", ("opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33")),
    Program("copilot", "copilot", ("@github/copilot@1.0.102",)),
)


def program_named(name: str) -> Program:
    """Return a program. Raises KeyError for an unknown name."""
    return {program.name: program for program in PROGRAMS}[name]
