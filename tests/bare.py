"""A PATH that holds the declared programs and nothing else, so that nothing installed by hand can help a test."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DECLARED = ROOT / ".ci" / "programs"


def bare_path(folder: Path) -> str:
    """Fill an empty folder with links to Python and the declared programs that are here; return it as a PATH."""
    (folder / "python3").symlink_to(Path(sys.executable).resolve())
    for name in DECLARED.read_text(encoding="ascii").split():
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)
