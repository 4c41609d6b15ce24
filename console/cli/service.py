"""`signalbox service COMMAND …`: print a systemd user unit that runs a command in the background."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from console.cli.described import described
from console.cli.plain import put
from console.errors import Refused, UsedWrongly
from mailstore.location import secrets_in
from mailstore.registry import own_commands

ACTIONS = {
    "serve": "Keep the console in a browser",
    "mirror": "Keep two mailboxes the same",
    "wake": "Wake an agent for its mail",
    **{own.name: own.summary for own in own_commands().values() if own.is_service},
}
UNIT = """\
[Unit]
Description=Signalbox: {called}
Documentation=man:signalbox-{name}(1)

[Service]
Type=exec
WorkingDirectory={folder}
ExecStart={command}
Restart=on-failure
RestartSec=10
NoNewPrivileges=yes
UMask=0077

[Install]
WantedBy=default.target"""
KEPT = " --"
"""Stands for a `--` that is the command's own: parsers drop another one in each version of Python."""
EPILOG = "Redirect the output to ~/.config/systemd/user/NAME.service, then: systemctl --user enable --now NAME"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="Command to run in the background")
    parser.add_argument("words", nargs="*", metavar="WORD", help="Its own arguments and options")
    parser.epilog = EPILOG


def arrange(words: list[str]) -> list[str]:
    """Leave all options after the command to it."""
    return words if words[:1] in (["-h"], ["--help"]) else ["--", *(KEPT if word == "--" else word for word in words)]


def run(args: argparse.Namespace) -> int:
    """Print the unit, after a check that the command takes the arguments. Raises UsedWrongly and Refused."""
    name, words = args.action, ["--" if word == KEPT else word for word in args.words]
    parser = described(name).parser
    (parser.parse_args if "--" in words else parser.parse_intermixed_args)(words)
    if any(secrets_in(word) for word in words):
        raise Refused(
            "a password in a service can be read by everyone",
            "name a file with it in the settings, in the kind's table",
            "E129",
        )
    folder = str(Path.cwd())
    line = [*_program(), name, *words]
    for word in (*line, folder):
        if not word.isprintable():
            raise UsedWrongly("a word holds a control character", "leave it out", "E130")
    if folder.endswith(("\\", " ")):
        raise Refused(f'a service can\'t begin in "{folder}"', "begin in a folder whose name has another end", "E131")
    put(
        UNIT.format(
            called=_specified(" ".join([name, *words])).rstrip("\\"),  # it would join the next line
            name=name,
            folder=_specified(folder),
            command=" ".join(map(_quoted, line)),
        )
    )
    return 0


def _program() -> list[str]:
    """Return the program as it was called, by its whole path."""
    called = Path(sys.argv[0]).absolute()
    if called.name == "signalbox" and called.is_file():
        return [str(called)]
    return [sys.executable, "-P", "-m", "console"]  # -P: no module of that name in the working folder


def _specified(text: str) -> str:
    """Return text without what systemd replaces."""
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """Return a word of a command line as systemd reads it; the program's own path may not begin with a quote."""
    if word and all(char.isalnum() or char in "-_./:=@,+" for char in word):
        return word
    escaped = _specified(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}"'
