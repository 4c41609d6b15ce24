"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make


def _sessions(folder: Path) -> str:
    claude = folder / ".claude"
    shutil.copytree(FIXTURES / "session-mail" / "approved", claude)
    return f"claude-sessions:{claude / 'projects'}"


SAMPLES: dict[str, Make] = {"claude-sessions": _sessions}
