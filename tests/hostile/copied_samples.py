"""What makes a sample of a mailbox, and samples that are copies of a fixture."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
Make = Callable[[Path], str]
"""Makes a mailbox in a folder; returns what `--store` takes."""


def copied(kind: str, source: str, place: str = "") -> Make:
    """Return what copies a fixture; `place` is the mailbox in it."""

    def make(folder: Path) -> str:
        shutil.copytree(FIXTURES / source, folder / source)
        return f"{kind}:{folder / source / place}"

    return make
