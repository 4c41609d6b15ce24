"""`signalbox demo`: a throw-away mailbox of simulated agents, and the console on it."""

from __future__ import annotations

import argparse
from pathlib import Path

from mailstore.registry import own_demos


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--theme", metavar="NAME", help="Theme (see signalbox themes)")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="Seed of the simulation; the same seed gives the same agents"
    )
    for kind, demo in own_demos().items():
        parser.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, help=demo.help)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="Create the mailbox in DIR and keep it")


def run(args: argparse.Namespace) -> int:
    """Run the demonstration until the user leaves it."""
    from console.demo.run import run_demo

    return run_demo(seed=args.seed, theme=args.theme, keep=args.keep, kind=getattr(args, "kind", None))
