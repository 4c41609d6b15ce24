"""The options of limits at which agents are held, of the commands that install hooks and that try limits out.

One module for two commands, so that what is tried is what is installed.
"""

from __future__ import annotations

import argparse

from console.errors import UsedWrongly
from console.hooks.calls import LIMITS, MOST_COUNTED, MOST_HOURS, MOST_IDENTICAL

MOST_HOURS_EVER = 10_000.0


def limit_options(parser: argparse.ArgumentParser, when: str) -> None:
    """Add the options to a command; `when` says with what else they count."""
    words = f"{when}: hold an agent at its Nth identical tool call in a row"
    parser.add_argument(MOST_IDENTICAL, type=int, metavar="N", help=words)
    parser.add_argument(MOST_HOURS, type=float, metavar="N", help=f"{when}: hold a session after N hours")


def given_limits(args: argparse.Namespace, needed: str, *, is_possible: bool) -> dict[str, float]:
    """Return the limits by the names of their options. Raises UsedWrongly for one that can't be, or stands alone."""
    values = {name: getattr(args, name.removeprefix("--").replace("-", "_")) for name in LIMITS}
    limits = {name: float(value) for name, value in values.items() if value is not None}
    if limits and not is_possible:
        raise UsedWrongly(f"{next(iter(limits))} needs {needed}", f"add {needed}", "E262")
    for name, value in limits.items():
        if not 0 < value <= (MOST_COUNTED if name == MOST_IDENTICAL else MOST_HOURS_EVER):
            raise UsedWrongly(f"{name} is not a possible limit", f"give 1 to {MOST_COUNTED} calls, or hours", "E263")
    return limits
