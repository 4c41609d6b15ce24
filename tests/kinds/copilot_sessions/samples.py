"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _sessions(folder: Path) -> str:
    home = folder / ".copilot"
    shutil.copytree(FIXTURES / "copilot-home", home)
    return f"copilot-sessions:{home}"


SAMPLES: dict[str, Make] = {"copilot-sessions": _sessions}
