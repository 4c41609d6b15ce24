"""Runs every command that writes on a disk with room for no byte, for one, for two …, and looks at what it leaves.

A write takes what there is room for, and the next one fails. The command says so, tears nothing that isn't mended, and
works once there is room again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.hostile.faults import Bench
from tests.hostile.kill import cases, tried


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("only", nargs="*", metavar="KIND|COMMAND", help="only these")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="only each Nth number of bytes")


def run(args: argparse.Namespace) -> int:
    """Run every command with every room there can be; say where something is wrong."""
    wrong = number = 0
    with Bench() as bench:
        for action in cases(args.only, 0):
            with tempfile.TemporaryDirectory(prefix="hostile-") as above, tried(action, bench, Path(above)) as case:
                for room in range(0, case.written, args.step):
                    number += 1
                    try:
                        case.full_at(room)
                    except AssertionError as error:
                        wrong += 1
                        print(f"{action.kind} {action.name}: room for {room} of {case.written} bytes: {error}")
    print(f"{number} full disks, {wrong} wrong")
    return int(wrong > 0)
