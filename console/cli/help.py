"""The text of `signalbox --help`."""

from __future__ import annotations

from itertools import groupby

from console.cli.commands import COMMANDS

HEAD = """\
usage: signalbox [--store URL] [COMMAND] …

A terminal console for overseeing the mail of AI agents.
Without a command, or with the path or URL of a mailbox, it opens the console."""

FOOT = """\
Common options
  --store URL     Mailbox: KIND:PATH or a path (default: SIGNALBOX_STORE, the
                  settings, or the first one from the working directory upward)
  --poll          Poll for changes, for file systems that report none
  --json          Print one JSON document and nothing else

Run signalbox COMMAND --help for details, signalbox --version for the version."""


def overview() -> str:
    """Return the overview of all commands, by group."""
    width = max(map(len, COMMANDS)) + 2
    parts = [HEAD]
    for group, members in groupby(COMMANDS.items(), key=lambda item: item[1].group):
        lines = [f"  {name:<{width}}{command.summary}" for name, command in members]
        parts.append("\n".join([group, *lines]))
    return "\n\n".join([*parts, FOOT])
