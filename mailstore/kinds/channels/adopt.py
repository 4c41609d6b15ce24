"""Write the records of another mailbox into new channels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from mailstore.files.naming import safe_name
from mailstore.kinds.channels.places import CHANNELS, HUMAN, ROSTER, sender_in, time_in
from mailstore.kinds.channels.presence import OFFLINE
from mailstore.kinds.channels.roster import RETIRED
from mailstore.kinds.channels.writer import HEX_BELOW
from mailstore.kit.json_records import encode_record
from mailstore.kit.timestamps import utc, written_time
from mailstore.records.address import Kind, resolve
from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.message import Message
from mailstore.records.protocol import USER_NAMES
from mailstore.records.roster import Agent, Roster, Status

MAIL = "mail"
"""The channel for messages that were in none."""
EVERYBODY = "all"
TAG = "project:"
REGISTRY, SIGNALS, _, SESSIONS = ROSTER
STATES = frozenset({"awake", "sleeping", "offline", "stale"})
WORD = re.compile(r"[a-z][a-z-]*", re.ASCII)


def adopt(root: Path, records: Iterable[Adopted]) -> None:
    """Write messages into their channels, and the agents beside them. Raises StoreError, OSError.

    The channel is the first one that a message names, else `mail`; other recipients are written to `to`. Subjects,
    TTLs and read records have no place here.
    """
    roster = Roster()
    begun: dict[str, str] = {}
    for record in records:
        match record:
            case Agent():
                roster.put(record)
            case AdoptedMessage(message=message) if message.sender.strip():
                channel = _write(root, record, roster)
                begun.setdefault(channel, written_time(message.time, message.timestamp if message.timed else ""))
    members: dict[str, list[str]] = {channel: [] for channel in begun}
    for agent in roster:
        _register(root, agent)
        for tag in agent.tags:
            if tag.startswith(TAG) and tag != TAG:
                members.setdefault(_folder_name(tag.removeprefix(TAG)), []).append(agent.session_id)
    for channel, names in members.items():
        session = {"id": channel, "created": begun.get(channel), "mode": "chat", "agents": names, "turn": None}
        _put(root / SESSIONS, [channel], session)


def _folder_name(channel: str) -> str:
    return safe_name(channel, ":")


def _write(root: Path, adopted: AdoptedMessage, roster: Roster) -> str:
    """Write a message to a file of its own; return the channel."""
    channel, stems, record = placed_message(adopted, roster)
    _put(root / CHANNELS / channel, stems, record)
    return channel


def placed_message(adopted: AdoptedMessage, roster: Roster) -> tuple[str, Iterator[str], dict[str, Any]]:
    """Return the channel of a message, the names that its file may have in their order, and its record."""
    message = adopted.message
    tag = next((text for text in message.recipients if text.startswith(TAG) and text != TAG), TAG + MAIL)
    channel = _folder_name(tag.removeprefix(TAG))
    names = dict.fromkeys(_recipient(text, roster) for text in message.recipients if text.strip() and text != tag)
    sender = HUMAN if message.sender in USER_NAMES else message.sender
    to = list(names) or [EVERYBODY]
    record: dict[str, Any] = {
        "id": message.id,
        "timestamp": written_time(message.time, message.timestamp),
        "session_id": channel,
        "from": sender,
        "to": to[0] if len(to) == 1 else to,
        **({"type": message.type} if message.type else {}),
        "content": {"text": adopted.content, "code": None, "artifacts": []},
        "metadata": {
            **adopted.extra,
            "mode": "chat",
            "turn": sender,
            **adopted.metadata,
            "in_reply_to": message.thread,
        },
    }
    if not message.timed:
        del record["timestamp"]
    return channel, _stems(message, safe_name(sender, ":")), record


def _stems(message: Message, sender: str) -> Iterator[str]:
    """Yield possible file names: the id if it has this system's form, else names with ever more digits of a digest."""
    time = utc(message.time)
    file = f"{message.id}.json"
    is_own = sender_in(file) == sender and time_in(file) == int(message.time)
    if is_own and safe_name(message.id, ":") == message.id:
        yield message.id
    digest = hashlib.blake2b(message.id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    short = f"{int(digest[:4], 16) % HEX_BELOW:04x}"
    for hexed in (short, *(digest[:length] for length in range(5, len(digest) + 1))):
        yield f"msg-{time.year:04d}{time:%m%d-%H%M%S}-{sender}-{hexed}"


def _recipient(text: str, roster: Roster) -> str:
    address = resolve(text, roster)
    match address.kind:
        case Kind.BROADCAST:
            return EVERYBODY
        case Kind.USER:
            return HUMAN
        case Kind.DIRECT:
            return address.name
        case Kind.ROLE:
            return f"role:{address.role}"
        case _:
            return text


def _register(root: Path, agent: Agent) -> None:
    """Write an agent's registration, and its presence if its activity has that form."""
    state, _, substate = agent.activity.partition(": ")
    is_offline = agent.status is Status.FROZEN
    is_present = state in STATES and (state == OFFLINE) == is_offline and agent.status is not Status.DEAD
    seen = agent.last_seen if agent.status is not Status.DEAD or agent.ended_at is None else agent.ended_at
    entry: dict[str, Any] = {"id": agent.session_id}
    if agent.status is Status.DEAD:
        entry["status"] = "retired"
    elif is_offline:
        entry["status"] = OFFLINE
    elif not is_present and WORD.fullmatch(agent.activity) and agent.activity not in RETIRED:
        entry["status"] = agent.activity
    if agent.role:
        entry["role"] = agent.role
    for name, time in (("registered", agent.started_at), ("last_seen", seen)):
        if time is not None:
            entry[name] = written_time(time)
    names = [safe_name(agent.session_id, ":")]
    _put(root / REGISTRY, names, entry)
    if is_present:
        presence = {"agent_id": agent.session_id, "state": state.upper(), "substate": substate.upper()}
        _put(root / SIGNALS, names, presence if seen is None else {**presence, "timestamp": written_time(seen)})


def _put(folder: Path, stems: Iterable[str], record: dict[str, Any]) -> None:
    """Write a file under the first unused name. Raises OSError if all are taken."""
    data = msgspec.json.format(encode_record(record), indent=2) + b"\n"
    folder.mkdir(parents=True, exist_ok=True)
    taken: FileExistsError | None = None
    for stem in stems:
        try:
            with (folder / f"{stem}.json").open("xb") as file:
                file.write(data)
            return
        except FileExistsError as error:
            taken = error
    if taken is not None:
        raise taken
