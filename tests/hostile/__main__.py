"""The long runs, by name: `python -m tests.hostile NAME`; each is a module with `add_arguments` and `run`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

RUNS: dict[str, str] = {
    "fuzz": "damage the files of every kind at random, and run the commands on them",
    "irregular": "put pipes, devices, folders, sockets and holes in the place of every file",
    "kill": "end every command that writes before each of its calls that change files",
    "full": "run every command that writes on a disk with room for ever more bytes",
    "errors": "let each call about a file fail in every command that looks",
    "histories": "mirror two hosts and a hub through random histories, with sudden ends and full disks",
    "keys": "type a hundred keys at once in every screen of the console",
    "looks": "look at every kind of mailbox in every way, and see that nothing could change it",
}
"""What a run is called, and what it does in one line; its module has the same name."""


def main(argv: list[str]) -> int:
    """Carry a run out; return 1 where it found a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, summary in RUNS.items():
        below = names.add_parser(name, help=summary, description=summary)
        if name in argv[:1]:
            import_module(f"tests.hostile.{name}").add_arguments(below)
    args = parser.parse_args(argv)
    return int(import_module(f"tests.hostile.{args.name}").run(args))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
