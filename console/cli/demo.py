"""`signalbox demo`: a throw-away mailbox of simulated agents, and the console on it."""

from __future__ import annotations

import argparse
import sys

from console.cli.problems import Refused


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--theme", metavar="NAME", help="signalbox themes lists them")


def run(args: argparse.Namespace) -> int:
    """Run the demonstration until the person leaves it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused("the demonstration needs a terminal", "run signalbox demo in one")
    from console.demo import run_demo

    return run_demo(theme=args.theme)
