"""How messages hang together, by `docs/semantics.md`."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.people import People
from tests.oracle.records import Letter
from tests.oracle.rules import age


@dataclass
class Forest:
    """Threads by root, each in reading order (the root first, a placeholder too), and the rings that were cut."""

    threads: dict[str, list[str]]
    rings: list[tuple[list[str], str]]
    missing: list[str]


def forest(letters: dict[str, Letter]) -> Forest:
    """Return how messages hang together."""
    parents = {letter.id: letter.parent for letter in letters.values() if letter.parent}
    rings = []
    for start in sorted(parents):
        path = [start]
        while (above := parents.get(path[-1])) is not None and above not in path:
            path.append(above)
        if above is not None and above == start:
            oldest = min(path, key=lambda name: age(letters[name]))
            rings.append((sorted(path), oldest))
            del parents[oldest]
    missing = sorted({parent for parent in parents.values() if parent not in letters})
    roots = [*(name for name in letters if name not in parents), *missing]
    children: dict[str, list[str]] = {}
    for letter in sorted(letters.values(), key=age):
        if letter.id in parents:
            children.setdefault(parents[letter.id], []).append(letter.id)

    def told(name: str) -> list[str]:
        return [name, *(each for child in children.get(name, []) for each in told(child))]

    return Forest({root: told(root) for root in roots}, rings, missing)


def participants(letters: list[Letter], people: People) -> list[str]:
    """Return the people of a thread, the oldest message's first."""
    names = []
    for letter in sorted(letters, key=age):
        names += [letter.sender, *(people.name_in_summary(address) for address in letter.recipients)]
    return list(dict.fromkeys(names))
