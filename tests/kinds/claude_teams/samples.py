"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.hostile.copied_samples import FIXTURES, Make, copied


def _transcripts(folder: Path) -> str:
    release = FIXTURES / "claude-code" / "2.1.330"
    shutil.copytree(release / "projects", folder / "projects")
    shutil.copytree(release / "queue", folder / "teams")
    return f"claude-teams:{folder}"


SAMPLES: dict[str, Make] = {"claude-teams": copied("claude-teams", "claude-teams"), "claude-transcripts": _transcripts}
