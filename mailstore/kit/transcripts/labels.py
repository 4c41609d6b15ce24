"""Names for sessions that tell them apart: what each is called, and a piece of its id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

PLAIN = re.compile(r"[^\w.+-]+")
LONGEST = 40


def labelled(sessions: Iterable[tuple[str, str]], piece: Callable[[str, int], str]) -> dict[str, str]:
    """Return a name for each session's id, given what each is called, those that began first first.

    `piece` returns so many characters of an id that differ between sessions; 4 are used as long as that is enough.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for session, called in sessions:
        plain = PLAIN.sub("-", called)[:LONGEST].strip("-.") or "session"
        sizes = (4, 8, max(9, len(session)))
        label = next(name for size in sizes if (name := f"{plain}@{PLAIN.sub('-', piece(session, size))}") not in taken)
        taken.add(label)
        found[session] = label
    return found
