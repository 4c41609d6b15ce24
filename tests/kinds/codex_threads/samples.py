"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _threads(folder: Path) -> str:
    shutil.copytree(FIXTURES / "codex-home", folder / ".codex")
    return f"codex-threads:{folder / '.codex'}"


SAMPLES: dict[str, Make] = {"codex-threads": _threads}
