"""A shared folder of channels, written file by file as the agents' own programs do."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from mailstore.conformance.following import of, scanned
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.records.roster import Agent

FIXTURE = Path(__file__).parents[2] / "fixtures" / "channels"
OLD = 1_700_000_000.0
"""When files were changed that their writers are done with, in seconds since the epoch."""


class SharedFolder:
    """The folder `collab` in a test's own, with one channel."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "collab"
        self.channel = self.root / "channels" / "ink"
        self.channel.mkdir(parents=True)

    def message(self, name: str, channel: str = "ink", **more: Any) -> Path:
        """Write a message whose file is named `msg-NAME.json`; fields given as None are left out."""
        record = {
            "id": f"msg-{name}",
            "timestamp": "2026-03-16T12:00:00.000Z",
            "session_id": channel,
            "from": "claude",
            "to": "codex",
            "type": "chat",
            "content": {"text": "Hello.", "code": None, "artifacts": []},
            "metadata": {"mode": "chat", "turn": "claude", "in_reply_to": None},
            **more,
        }
        data = json.dumps({key: value for key, value in record.items() if value is not None})
        return self.file(f"channels/{channel}/msg-{name}.json", data.encode())

    def record(self, path: str, **fields: Any) -> Path:
        """Write a JSON file."""
        return self.file(path, json.dumps(fields).encode())

    def file(self, path: str, data: bytes, changed: float = OLD) -> Path:
        """Write a file that was changed long ago."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        os.utime(place, (changed, changed))
        return place


def copied(folder: Path) -> Path:
    """Copy the sample into a folder."""
    return Path(shutil.copytree(FIXTURE, folder / "collab"))


def events_in(root: Path) -> list[Event]:
    with ChannelsStore.open(root) as store:
        return scanned(store)


def messages_in(root: Path) -> dict[str, Message]:
    return {message.id: message for message in of(Message, events_in(root))}


def agents_in(root: Path) -> dict[str, Agent]:
    return {agent.session_id: agent for agent in of(Agent, events_in(root))}
