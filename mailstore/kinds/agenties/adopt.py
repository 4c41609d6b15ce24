"""Write the records of another mailbox into a new log."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mailstore.kinds.agenties.decode import AGENT, ISSUE, ORCHESTRATOR, ROLE
from mailstore.kinds.agenties.places import TEAMS
from mailstore.kit.json_records import encode_record
from mailstore.kit.timestamps import written_time
from mailstore.records.address import Kind, resolve
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Message, Receipt
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent, Roster

BROADCAST, USER = "broadcast", "user"


def adopt(mailbox: Path, records: Iterable[Adopted]) -> None:
    """Write messages into an empty log, and the agents as its team. Raises StoreError, OSError.

    A line has one recipient and one read flag: of several recipients the first is kept, and for a role or a
    broadcast the flag says that anybody has read it. Messages without a sender or a recipient are left out.
    """
    roster = Roster()
    readers: dict[str, set[str]] = {}
    with mailbox.open("ab") as file:
        for record in records:
            match record:
                case Agent():
                    roster.put(record)
                case Receipt(message_id, reader):
                    readers.setdefault(message_id, set()).add(reader)
                case AdoptedMessage(message=message) if message.sender.strip() and any(
                    map(str.strip, message.recipients)
                ):
                    read_by = readers.get(message.id, set()).union(message.read_by)
                    file.write(encode_record(_line(record, roster, read_by)) + b"\n")
    if len(roster):
        team = mailbox.parent / TEAMS[0]
        team.parent.mkdir(exist_ok=True)
        team.write_bytes(encode_record({"members": [_member(agent) for agent in roster]}) + b"\n")


def _line(adopted: AdoptedMessage, roster: Roster, readers: set[str]) -> dict[str, Any]:
    message = adopted.message
    to = next(spelled for text in message.recipients if (spelled := _recipient(text, roster)))
    record: dict[str, Any] = {
        "id": message.id,
        "type": message.type,
        "from": _sender(message.sender),
        "to": to,
        "subject": message.subject,
        "body": adopted.content,
        "metadata": {**adopted.extra, **adopted.metadata},
        "issueId": _tagged(message, ISSUE),
        "agentId": _tagged(message, AGENT),
    }
    record = {name: value for name, value in record.items() if value or name not in OPTIONAL}
    record["read"] = bool(readers if to == BROADCAST or to.startswith(ROLE) else to.removeprefix(AGENT) in readers)
    if message.timed:
        record["createdAt"] = written_time(message.time, message.timestamp)
    return record


OPTIONAL = frozenset({"subject", "metadata", "issueId", "agentId"})


def _tagged(message: Message, prefix: str) -> str:
    return next((tag.removeprefix(prefix) for tag in message.tags if tag.startswith(prefix)), "")


def _sender(text: str) -> str:
    if text in USER_NAMES:
        return USER
    return text if text == ORCHESTRATOR or ":" in text else AGENT + text


def _recipient(text: str, roster: Roster) -> str:
    """Return an address as Agenties writes it; one of another system is kept as it is."""
    if not text.strip():
        return ""
    address = resolve(text, roster)
    match address.kind:
        case Kind.BROADCAST:
            return BROADCAST
        case Kind.USER:
            return USER
        case Kind.ROLE:
            return ROLE + address.role
        case Kind.DIRECT:
            return ORCHESTRATOR if address.name == ORCHESTRATOR else AGENT + address.name
        case _:
            return text if ":" in text or text == ORCHESTRATOR else AGENT + text


def _member(agent: Agent) -> dict[str, str]:
    return {
        "id": agent.session_id,
        **({"name": agent.name} if agent.name else {}),
        **({"role": agent.role} if agent.role else {}),
    }
