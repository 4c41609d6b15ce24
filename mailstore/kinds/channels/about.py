"""What is known of an agent's watcher: its process, and the last error in its log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mailstore.encoding import shown_name
from mailstore.files.backward import last_lines
from mailstore.records.agent_fact import AgentFact

LOGS = "logs"
ENDINGS = ("", "-watcher", "-daemon")
COLOUR = re.compile(r"(?:\x1b|\\033|\\e)\[[0-9;]*m")
"""Also as text: a watcher's `echo` writes colours to its log without interpreting them."""
ERROR = re.compile(r"\berror\b", re.IGNORECASE)
WENT_WELL = re.compile(r"\bOK\b")
NUMBERED = re.compile(r"(.+)-\d+")
LONGEST = 300


def facts_about(root: Path, name: str, presence: dict[str, Any], file: str) -> Iterator[AgentFact]:
    """Yield the process in an agent's presence, which is in `file`, and the last error in each of its logs."""
    pid = presence.get("watcher_pid")
    if isinstance(pid, int) and not isinstance(pid, bool):
        yield AgentFact("watcher", f"process {pid}", file)
    for path in _logs(root / LOGS, name):
        if (found := _last_error(path)) is not None:
            line, is_last_word = found
            yield AgentFact("last error", line, f"{LOGS}/{shown_name(path.name)}", is_last_word)


def _logs(folder: Path, name: str) -> list[Path]:
    """Return the logs of an agent's watchers; `bags-watcher.log` is of `bags-1` where that has none of its own."""
    if "/" in name or "\0" in name:
        return []
    numbered = NUMBERED.fullmatch(name)
    for stem in (name, numbered[1]) if numbered else (name,):
        paths = [folder / f"{stem}{ending}.log" for ending in ENDINGS]
        if found := [path for path in paths if path.is_file() and not path.is_symlink()]:
            return found
    return []


def _last_error(path: Path) -> tuple[str, bool] | None:
    """Return the last error in the end of a log, and whether nothing went well since; None if there is none."""
    try:
        lines = last_lines(str(path))
    except OSError:
        return None
    is_last_word = True
    for line in reversed(lines):
        text = COLOUR.sub("", line.decode("utf-8", "replace")).strip()
        if ERROR.search(text):
            return text[:LONGEST], is_last_word
        is_last_word = is_last_word and WENT_WELL.search(text) is None
    return None
