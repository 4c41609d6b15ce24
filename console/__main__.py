"""Run the commands with `python -m console`."""

from __future__ import annotations

from console.cli import command

if __name__ == "__main__":
    command()
