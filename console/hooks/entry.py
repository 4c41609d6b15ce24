"""What an installed hook runs: `PYTHON -I -S …/console/hooks/entry.py PROGRAM [EVENT] [options]`.

Nothing is imported that is not needed to find out that there is nothing to do (docs/decisions/0045). A hook never
disturbs the program that runs it: whatever goes wrong, it says nothing and ends with 0.
"""

from __future__ import annotations

import os
import sys

BLOCK = 1 << 16
LONGEST_INPUT = 1 << 25


def hook(words: list[str]) -> int:
    """Answer one event of a program, which is described on standard input; return the exit status."""
    try:
        from console.hooks import clock

        clock.start()
        data = _input()
        from console.hooks.quick_look import is_quiet

        if not words or is_quiet(words, data):
            return 0
        from console.hooks.run import run

        return run(words, data)
    except Exception as error:
        from contextlib import suppress

        with suppress(Exception):  # where the installation is damaged
            from console.hooks.log import log_error

            log_error(" ".join(words[:2]), "", error)
        return 0


def _input() -> bytes:
    """Return standard input, read to its end; what is too much of it is dropped."""
    parts, size = [], 0
    while block := os.read(0, BLOCK):
        size += len(block)
        if size <= LONGEST_INPUT:
            parts.append(block)
    return b"".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
    status = hook(sys.argv[1:])
    os._exit(status)
