"""From the words on the command line to the one command that they mean."""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from pathlib import Path

from console.cli.parser import run_module
from console.cli.terminal_io import put
from console.commands.shell import COMMANDS
from console.errors import UsedWrongly

VALUED = frozenset({"--store", "--as", "--theme"})
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
HELP = frozenset({"-h", "--help"})


def dispatch(words: list[str]) -> int:
    """Run the command that the arguments name; raises UsedWrongly for an unknown one."""
    name, rest = _command(words)
    if name == "help":
        return _help(rest)
    return run(name, rest)


def _command(words: list[str]) -> tuple[str, list[str]]:
    """Find the command's name; options before it are passed on to it."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        if words[at] in HELP:
            return "help", []
        at += 2 if words[at] in VALUED else 1
    if at >= len(words):
        return "open", words
    word = words[at]
    if word in COMMANDS or word == "help" or _is_own(word):
        return word, words[:at] + words[at + 1 :]
    if ":" in word or "/" in word or Path(word).exists():
        return "open", words
    raise UsedWrongly(f'unknown command "{word}"', _hint(word), "E111")


def _is_own(word: str) -> bool:
    """Say whether a word is a command that a kind of mailbox has."""
    if ":" in word or "/" in word:
        return False
    from mailstore.registry import own_commands

    return word in own_commands()


def _hint(word: str) -> str:
    from difflib import get_close_matches

    from console.cli.own_commands import all_commands

    near = get_close_matches(word.lower(), all_commands(), n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else "signalbox --help lists the commands"


def _help(words: list[str]) -> int:
    topics = [word for word in words if not word.startswith("-")]
    if topics:
        if topics[0] not in COMMANDS and not _is_own(topics[0]):
            raise UsedWrongly(f'unknown command "{topics[0]}"', _hint(topics[0]), "E111")
        return run(topics[0], ["--help"])
    put(overview())
    return 0


def run(name: str, words: list[str]) -> int:
    """Run a command by its name."""
    from console.settings.server_tables import use_config_file

    use_config_file()
    if (command := COMMANDS.get(name)) is not None:
        return run_module(import_module(f"console.cli.{command.module}"), name, command.summary, words)
    from console.cli.own_commands import all_commands, module_of

    return run_module(module_of(name), name, all_commands()[name].summary, words)


def overview() -> str:
    """Return the overview of all commands, by group."""
    from console.cli.own_commands import all_commands

    commands = all_commands()
    width = max(map(len, commands)) + 2
    parts = [HEAD]
    for group, members in groupby(commands.items(), key=lambda item: item[1].group):
        lines = [f"  {name:<{width}}{command.summary}" for name, command in members]
        parts.append("\n".join([group, *lines]))
    return "\n\n".join([*parts, FOOT])
