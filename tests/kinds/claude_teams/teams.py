"""Teams of Claude Code agents, made for tests, and what a store reads of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mailstore.conformance.following import of, scanned
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.registry import open_store

LONG_AGO = 1_600_000_000


def entry(text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    return {"from": "ann", "text": text, "timestamp": f"2026-03-16T12:00:{second:02}.000Z", "read": False, **more}


def team(tmp_path: Path, *, name: str = "ink", members: tuple[str, ...] = ("lead", "ann"), **inboxes: Any) -> Path:
    """Make a team; an inbox is a list of entries, or its bytes."""
    folder = tmp_path / "teams" / name
    (folder / "inboxes").mkdir(parents=True, exist_ok=True)
    roster = [{"name": each, "agentType": "worker", "joinedAt": 1_773_662_000_000} for each in members]
    (folder / "config.json").write_text(json.dumps({"name": name, "members": roster}))
    for inbox, value in inboxes.items():
        write(folder, inbox, value)
    return folder


def write(folder: Path, inbox: str, value: Any) -> Path:
    path = folder / "inboxes" / f"{inbox}.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value, indent=2).encode())
    return path


def read(path: Path) -> list[Event]:
    with open_store(path) as store:
        return scanned(store)


def bodies(path: Path) -> list[str]:
    with open_store(path) as store:
        return sorted(store.content(message) for message in of(Message, scanned(store)))


def journals(tmp_path: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (tmp_path / "state").rglob("*.jsonl")}
