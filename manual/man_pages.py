"""The man pages: one for the program and one for each command, made from the parsers (`python -m manual.reference`)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from console.cli.described import COMMON_STATUSES, CommandDescription, described_commands
from console.cli.version import VERSION

MAN = Path(__file__).parent / "man1"
ENVIRONMENT = {
    "SIGNALBOX_STORE": "The mailbox, where --store names none",
    "SIGNALBOX_AGENT": "The agent's own session id; set for agents by their hooks",
    "SIGNALBOX_DEBUG": "Set to 1 to see tracebacks of internal errors",
    "VISUAL, EDITOR": "The editor in which messages and settings are written",
    "NO_COLOR": "Set to anything for a console without colours",
}
FILES = {
    "~/.config/signalbox/config.toml": "Settings; signalbox config path prints where they are on this system",
    "~/.config/signalbox/themes/": "Your own themes",
    "~/.local/state/signalbox/": "What you have seen, drafts, and the state of hooks",
    "~/.cache/signalbox/": "What may be deleted at any time",
    "data/agent-mailbox.jsonl": "The mailbox that is found from the working folder upward; "
    "signalbox stores lists the other kinds",
}


def _escaped(text: str) -> str:
    """Return text as roff prints it: a backslash, a hyphen and a quote are themselves, no line is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in text.splitlines())


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "\\(dq") + '"'


def _head(name: str, summary: str) -> Iterator[str]:
    yield '.\\" Made by python \\-m manual.reference from the parsers of the commands.'
    yield f'.TH {_quoted(name.upper())} 1 "" {_quoted(f"signalbox {VERSION}")} "Signalbox"'
    yield ".nh\n.ad l"
    yield ".SH NAME"
    yield f"{_escaped(name)} \\- {_escaped(summary)}"


def _definitions(rows: dict[str, str]) -> Iterator[str]:
    for term, words in rows.items():
        yield ".TP"
        yield f".B {_quoted(term)}"
        yield _escaped(words)


def _argument(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or [action.dest]))
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _option(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        value = f" {action.metavar or '|'.join(map(str, action.choices or [action.dest.upper()]))}"
    return ", ".join(f"{name}{value}" for name in action.option_strings)


def _words(action: argparse.Action) -> str:
    words = (action.help or "").replace("%%", "%")
    return words if words.endswith(".") else f"{words}."


def _statuses(own: dict[int, str]) -> Iterator[str]:
    yield ".SH EXIT STATUS"
    rows = dict(COMMON_STATUSES)
    for number, words in own.items():
        rows[number] = f"{words}; or {rows[number]}" if number in rows else words
    yield from _definitions({str(number): f"{rows[number][0].upper()}{rows[number][1:]}." for number in sorted(rows)})


def command_page(it: CommandDescription) -> str:
    """Return the page of one command."""
    lines = [*_head(f"signalbox-{it.name}", it.summary), ".SH SYNOPSIS", f".B {_quoted(f'signalbox {it.name}')}"]
    lines.append(f".RI [ options ] {_quoted(''.join(f' {_argument(each)}' for each in it.arguments))}")
    lines += [".SH DESCRIPTION", _escaped(f"{it.summary}.")]
    if it.actions:
        lines.append(".SH ACTIONS")
        rows = {each.name: f"{each.summary}{' (default)' * each.is_default}." for each in it.actions}
        lines += _definitions(rows)
    if it.arguments:
        lines += [".SH ARGUMENTS", *_definitions({_argument(each): _words(each) for each in it.arguments})]
    lines += [".SH OPTIONS", *_definitions({_option(each): _words(each) for each in it.options})]
    if it.epilog:
        lines += [".SH MORE", ".EX", _escaped(it.epilog), ".EE"]
    lines += [*_statuses(it.statuses), ".SH SEE ALSO", ".BR signalbox (1)"]
    return "\n".join(lines) + "\n"


def program_page(commands: list[CommandDescription]) -> str:
    """Return the page of the program, with all commands and what they have in common."""
    lines = [*_head("signalbox", "oversee the mail of AI agents"), ".SH SYNOPSIS", ".B signalbox"]
    lines += [".RI [ MAILBOX ]", ".br", ".B signalbox", ".I COMMAND", ".RI [ options ]", ".SH DESCRIPTION"]
    lines.append(
        "Signalbox is a terminal console from which one person oversees the mail of a fleet of AI agents. "
        "Without a command, or with the path or URL of a mailbox, it opens the console; F1 shows its keys."
    )
    for group, members in groupby(commands, key=lambda it: it.group):
        lines.append(f".SH {_quoted(f'COMMANDS: {group}'.upper())}")
        lines += _definitions({f"signalbox-{it.name}(1)": f"{it.summary}." for it in members})
    lines += [".SH OPTIONS", *_definitions({_option(each): _words(each) for each in commands[0].options})]
    lines += _definitions({"--version": "Print the version."})
    lines += [*_statuses({}), ".SH ENVIRONMENT", *_definitions(ENVIRONMENT), ".SH FILES", *_definitions(FILES)]
    lines += [".SH SEE ALSO", *(f".BR {_escaped(f'signalbox-{it.name}')} (1)," for it in commands[:-1])]
    return "\n".join([*lines, f".BR {_escaped(f'signalbox-{commands[-1].name}')} (1)"]) + "\n"


def man_pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    commands = list(described_commands())
    pages = {f"signalbox-{it.name}.1": command_page(it) for it in commands}
    return {"signalbox.1": program_page(commands), **pages}
