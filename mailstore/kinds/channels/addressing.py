"""Determine the channel and the recipient of a draft."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mailstore.errors import DraftRefused, StoreError, reason_of
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.channels.decode import InvalidChannelFile, decode
from mailstore.kinds.channels.places import CHANNELS, HUMAN, is_broadcast, is_message, tag_of
from mailstore.kinds.channels.roster import RosterFiles
from mailstore.records.message import Message
from mailstore.records.protocol import TAG_NAMESPACES, USER_NAMES
from mailstore.records.roster import Agent

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

LONGEST_NAME = 100


class Placed(NamedTuple):
    """A channel, the recipient in it (`all` or one name), and the sender."""

    channel: str
    to: str
    sender: str


def is_for_several(recipients: tuple[str, ...]) -> bool:
    """Return whether there is more than one channel, or more than one name."""
    tags, names = _parted(recipients)
    return len(tags) > 1 or len(names) > 1


def names_anybody(recipients: tuple[str, ...]) -> bool:
    """Return whether the recipients include a name besides the channel."""
    return bool(_parted(recipients)[1])


def _parted(recipients: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the tags and the names among addresses; a broadcast is neither."""
    tags = [text for text in dict.fromkeys(recipients) if text.partition(":")[0] in TAG_NAMESPACES and ":" in text]
    return tags, [text for text in dict.fromkeys(recipients) if text not in tags and not is_broadcast(text)]


def place(root: Path, draft: Draft) -> Placed:
    """Return where a draft with at most one channel and one name goes. Raises DraftRefused and StoreError."""
    channels = sorted(path.name for path in _folders(root / CHANNELS))
    tags, names = _parted(draft.recipients)
    sender = HUMAN if draft.sender in USER_NAMES else _checked("from", draft.sender)
    agents = {agent.session_id: agent for agent in _agents(root)} if names else {}
    to = _agent(names[0], agents) if names else "all"
    channel = _named_channel(tags[0], channels) if tags else _likely_channel(root, draft, agents.get(to), channels)
    return Placed(channel, to, sender)


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    except OSError as error:
        raise StoreError(f"{folder} can't be read", reason_of(error), "E289") from error


def _agents(root: Path) -> list[Agent]:
    files = RosterFiles(root)
    files.look()
    return [event for event in files.read({}) or () if isinstance(event, Agent)]


def _agent(text: str, agents: dict[str, Agent]) -> str:
    """Return an address as the system writes it. Raises DraftRefused for a role."""
    if text in USER_NAMES:
        return HUMAN
    name = _checked("to", text.removeprefix("agent:"))
    holders = [agent.session_id for agent in agents.values() if name == agent.role]
    if holders and name not in agents:
        raise DraftRefused(
            "to", f"{name!r} is a role; channels have agents only", f"use {' or '.join(holders)}", "E504"
        )
    return name


def _named_channel(tag: str, channels: list[str]) -> str:
    namespace, _, name = tag.partition(":")
    if namespace != "project":
        known = ", ".join(map(tag_of, channels)) or "none yet"
        raise DraftRefused("to", f"{tag!r} is not a channel here", f"known channels: {known}", "E505")
    return _checked("to", name)


def _likely_channel(root: Path, draft: Draft, agent: Agent | None, channels: list[str]) -> str:
    """Return the channel of the answered message, else the only one, else the agent's. Raises DraftRefused."""
    if draft.thread is not None and (answered := _channel_of(root, draft.thread, channels)):
        return answered
    if len(channels) == 1:
        return channels[0]
    known = [name for name in channels if agent is not None and tag_of(name) in agent.tags]
    if len(known) == 1:
        return known[0]
    choice = " or ".join(tag_of(name) for name in known or channels) or "one, such as project:general"
    raise DraftRefused("to", "names no channel", f"add the channel: {choice}", "E503")


def _channel_of(root: Path, message_id: str, channels: list[str]) -> str:
    """Return the channel that contains a message; its file is usually named after its id."""
    for name in channels if "/" not in message_id and "\0" not in message_id else ():
        if (root / CHANNELS / name / f"{message_id}.json").is_file():
            return name
    files = [path for name in channels for path in (root / CHANNELS / name).iterdir() if is_message(path.name)]
    for path in sorted(files, key=lambda path: path.name, reverse=True):
        if (message := _read(path)) is not None and message.id == message_id:
            return path.parent.name
    return ""


def _read(path: Path) -> Message | None:
    try:
        return decode(read_whole(path), path.parent.name, path.name, 0.0).message
    except (OSError, NotAFile, InvalidChannelFile):
        return None


def _checked(field: str, name: str) -> str:
    """Return a name unchanged if it can be part of a file name. Raises DraftRefused."""
    if not name or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise DraftRefused(field, f"{name[:40]!r} can't be part of a file name", "use a shorter, plain name", "E506")
    odd = [char for char in name if char in "/\\:" or not char.isprintable() or char.isspace()]
    if odd:
        raise DraftRefused(field, f"{name!r} can't be part of a file name", f"leave out {odd[0]!r}", "E506")
    return name
