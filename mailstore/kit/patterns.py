"""Match a name with a shell's pattern in bounded time; a module of its own because its users share nothing else."""

from __future__ import annotations

from fnmatch import fnmatchcase

LONGEST = 1_000
"""Characters; `fnmatch` takes a minute for a pattern of 60,000 brackets that are never closed."""


def is_match(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern of `*`, `?` and `[…]`; a longer one than any name matches nothing."""
    return max(len(name), len(pattern)) <= LONGEST and fnmatchcase(name, pattern)
