"""Alter exports at every letter; each alteration must be found: `python -m tests.oracle.exports FILE...`."""

from __future__ import annotations

import sys
from pathlib import Path

from console.errors import Refused
from console.export.reading import claims_in


def is_found(text: str, place: int) -> bool:
    """Say whether another letter at a place is found."""
    other = "y" if text[place] in "xX" else "x"
    try:
        return any(claim.is_altered for claim in claims_in(text[:place] + other + text[place + 1 :]))
    except Refused:
        return True


def main(names: list[str]) -> int:
    """Print the places where an alteration goes unnoticed; return 1 if there are any."""
    unnoticed = 0
    for name in names:
        text = Path(name).read_text(encoding="utf-8", errors="surrogateescape")
        for place in (each for each, letter in enumerate(text) if letter.isalnum()):
            if not is_found(text, place):
                unnoticed += 1
                print(f"{name}:{place}: {text[max(0, place - 30) : place + 9]!r}")
    print(f"{unnoticed} alterations went unnoticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
