"""`signalbox completion` as a shell calls it, at the cost of little more than an empty Python."""

from __future__ import annotations

import os

from console.cli.terminal_io import put
from console.completion.shells import SHELLS, bash_lines, script_of, word_lines

BREAKS = " \t\n\"'@><=;|&(:"
"""Where bash breaks words unless told otherwise."""
WORDS = 3


def quick_completion(words: list[str]) -> int | None:
    """Print a shell's script, or what may come next; return None where the arguments must be parsed."""
    if len(words) == 1 and words[0] in SHELLS:
        put(script_of(words[0]).rstrip("\n"))
        return 0
    if len(words) <= WORDS or words[0] != "words" or words[1] not in SHELLS or words[2] != "--":
        return None
    rest = words[WORDS:]
    lines = bash_lines(rest[0], os.environ.get("COMP_WORDBREAKS", BREAKS)) if words[1] == "bash" else word_lines(rest)
    put("\n".join(lines))
    return 0
