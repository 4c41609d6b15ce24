"""The log of wakes: a line of JSON for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from console.hooks.state_folder import state_home
from console.render.json_output import json_text
from mailstore.files.whole import open_regular


def wake_log() -> Path:
    """Return the path of the log, which may not exist."""
    return Path(state_home()) / "wake.jsonl"


def log_line(path: Path, record: dict[str, Any]) -> None:
    """Append a record; blocks, raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8", opener=open_regular) as file:
        file.write(json_text(record) + "\n")
