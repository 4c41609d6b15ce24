"""A project's mailbox, written a line at a time as Agenties does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mailstore.conformance.following import of, scanned
from mailstore.kinds.agenties.store import AgentiesStore
from mailstore.queries.attention import ConcernKind, attention
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox

FIXTURE = Path(__file__).parents[2] / "fixtures" / "agenties"
TWO = 1_778_421_600.0
"""When the first message of the sample was sent, in seconds since the epoch."""
OLD = 1_700_000_000.0


class Project:
    """A project with its log, written a line at a time."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.log = self.root / ".agenties" / "mailbox.jsonl"
        self.log.parent.mkdir(parents=True)
        self.log.touch()

    def line(self, message_id: str, **more: Any) -> bytes:
        record = {
            "id": message_id,
            "type": "custom",
            "from": "orchestrator",
            "to": "agent:ag_x1",
            "body": f"The text of {message_id}.",
            "read": False,
            "createdAt": "2026-05-10T14:00:00Z",
            **more,
        }
        return json.dumps({name: value for name, value in record.items() if value is not None}).encode() + b"\n"

    def message(self, message_id: str, **more: Any) -> None:
        self.append(self.line(message_id, **more))

    def append(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)

    def team(self, document: Any, name: str = "shared/team.json") -> None:
        place = self.log.parent / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
        os.utime(place, (OLD, OLD))

    def events(self) -> list[Event]:
        with AgentiesStore.open(self.root) as store:
            return scanned(store)

    def one(self, **more: Any) -> Message:
        self.message("m", **more)
        return of(Message, self.events())[0]

    def agents(self) -> dict[str, Agent]:
        return {agent.session_id: agent for agent in of(Agent, self.events())}

    def unanswered(self) -> list[str]:
        """Return the questions that need attention a day later."""
        mailbox = Mailbox()
        mailbox.fold(self.events(), TWO)
        found = attention(mailbox, TWO + 86_400)
        return sorted(str(it.message_id) for it in found if it.kind is ConcernKind.QUESTION)
