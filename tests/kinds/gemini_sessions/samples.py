"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _sessions(folder: Path) -> str:
    home = folder / ".gemini"
    shutil.copytree(FIXTURES / "gemini-home", home)
    return f"gemini-sessions:{home}"


SAMPLES: dict[str, Make] = {"gemini-sessions": _sessions}
