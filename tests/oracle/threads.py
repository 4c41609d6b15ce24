"""How messages hang together, by `docs/semantics.md`."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.people import People
from tests.oracle.records import OracleMessage
from tests.oracle.rules import age


@dataclass
class Forest:
    """Threads by root, each in reading order (the root first, a placeholder too), and the rings that were cut."""

    threads: dict[str, list[str]]
    rings: list[tuple[list[str], str]]
    missing: list[str]


def forest(messages: dict[str, OracleMessage]) -> Forest:
    """Return how messages hang together."""
    parents = {message.id: message.parent for message in messages.values() if message.parent}
    rings = []
    for start in sorted(parents):
        path = [start]
        while (above := parents.get(path[-1])) is not None and above not in path:
            path.append(above)
        if above is not None and above == start:
            oldest = min(path, key=lambda name: age(messages[name]))
            rings.append((sorted(path), oldest))
            del parents[oldest]
    missing = sorted({parent for parent in parents.values() if parent not in messages})
    roots = [*(name for name in messages if name not in parents), *missing]
    children: dict[str, list[str]] = {}
    for message in sorted(messages.values(), key=age):
        if message.id in parents:
            children.setdefault(parents[message.id], []).append(message.id)

    def told(name: str) -> list[str]:
        return [name, *(each for child in children.get(name, []) for each in told(child))]

    return Forest({root: told(root) for root in roots}, rings, missing)


def participants(messages: list[OracleMessage], people: People) -> list[str]:
    """Return the people of a thread, the oldest message's first."""
    names = []
    for message in sorted(messages, key=age):
        names += [message.sender, *(people.name_in_summary(address) for address in message.recipients)]
    return list(dict.fromkeys(names))
