"""What `signalbox --help` prints."""

from __future__ import annotations

from itertools import groupby

from console.cli.commands import COMMANDS

__all__ = ["overview"]

HEAD = """\
usage: signalbox [--store URL] [COMMAND] …

The terminal console from which one person oversees the mail of AI agents.
Alone, or with a mailbox's path or URL, it opens the console."""

FOOT = """\
Every command takes
  --store URL     the mailbox: KIND:PATH or a path (else SIGNALBOX_STORE, the settings,
                  or the first one found from the working directory upward)
  --poll          look for changes by polling, where the file system reports none
  --json          one JSON document on standard output and nothing else

signalbox COMMAND --help tells the rest; signalbox --version the version."""


def overview() -> str:
    """Return the commands in their groups."""
    width = max(map(len, COMMANDS)) + 2
    parts = [HEAD]
    for group, members in groupby(COMMANDS.items(), key=lambda item: item[1].group):
        lines = [f"  {name:<{width}}{command.summary}" for name, command in members]
        parts.append("\n".join([group, *lines]))
    return "\n\n".join([*parts, FOOT])
