"""`signalbox completion SHELL`: print the script that completes the program's command line in a shell."""

from __future__ import annotations

import argparse

from console.cli.quick_completion import quick_completion
from console.errors import UsedWrongly

ACTIONS = {
    "bash": 'Print the script for bash: eval "$(signalbox completion bash)" in ~/.bashrc',
    "zsh": 'Print the script for zsh: eval "$(signalbox completion zsh)" in ~/.zshrc, after compinit',
    "fish": "Print the script for fish: signalbox completion fish | source in config.fish",
    "words": "Print what may come next; the scripts call this",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="SHELL", choices=ACTIONS, help="bash, zsh or fish")
    parser.add_argument("words", nargs="*", metavar="WORD", help="With words: the shell, --, and the words so far")


def run(args: argparse.Namespace) -> int:
    """Print a script."""
    if args.action == "words" or args.words:
        raise UsedWrongly(f"{args.action} takes no such words", "see signalbox completion --help", "E132")
    status = quick_completion([args.action])
    assert status is not None
    return status
