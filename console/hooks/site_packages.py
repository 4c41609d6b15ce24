"""Make installed packages importable in a hook, which starts without them because most hooks need none."""

from __future__ import annotations

import sys

_is_on = not sys.flags.no_site


def turn_on() -> None:
    """Make installed packages importable; call this before an import that may need one. Costs a few milliseconds."""
    global _is_on
    if not _is_on:
        import site

        site.main()
        _is_on = True
