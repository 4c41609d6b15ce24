"""Into which channel a draft goes, and whom it names there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mailstore.errors import DraftRefused, StoreError, reason_of
from mailstore.files.whole import NotAFile, read_whole
from mailstore.records.message import Message
from mailstore.records.protocol import TAG_NAMESPACES, USER_NAMES
from mailstore.records.roster import Agent
from mailstore.stores.channels.decode import NoRecord, decode
from mailstore.stores.channels.places import CHANNELS, HUMAN, is_broadcast, is_message, tag_of
from mailstore.stores.channels.roster import RosterFiles

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

__all__ = ["Placed", "is_for_several", "names_anybody", "place"]

LONGEST_NAME = 100


class Placed(NamedTuple):
    """A channel, whom a message in it is for (`all`, or one name), and as whom it goes."""

    channel: str
    to: str
    sender: str


def is_for_several(recipients: tuple[str, ...]) -> bool:
    """Say whether recipients are more than one channel, or more than one name in it."""
    tags, names = _parted(recipients)
    return len(tags) > 1 or len(names) > 1


def names_anybody(recipients: tuple[str, ...]) -> bool:
    """Say whether recipients are more than a channel, and not everybody in it."""
    return bool(_parted(recipients)[1])


def _parted(recipients: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the tags and the names among addresses; to everybody is to neither."""
    tags = [text for text in dict.fromkeys(recipients) if text.partition(":")[0] in TAG_NAMESPACES and ":" in text]
    return tags, [text for text in dict.fromkeys(recipients) if text not in tags and not is_broadcast(text)]


def place(root: Path, draft: Draft) -> Placed:
    """Find the place of a draft that is not for several. Raises DraftRefused and StoreError."""
    channels = sorted(path.name for path in _folders(root / CHANNELS))
    tags, names = _parted(draft.recipients)
    sender = HUMAN if draft.sender in USER_NAMES else _checked("from", draft.sender)
    agents = {each.session_id: each for each in _agents(root)} if names else {}
    to = _agent(names[0], agents) if names else "all"
    channel = _named_channel(tags[0], channels) if tags else _likely_channel(root, draft, agents.get(to), channels)
    return Placed(channel, to, sender)


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    except OSError as error:
        raise StoreError(f"{folder} can't be read", reason_of(error)) from error


def _agents(root: Path) -> list[Agent]:
    files = RosterFiles(root)
    files.look()
    return [event for event in files.read({}) or () if isinstance(event, Agent)]


def _agent(text: str, agents: dict[str, Agent]) -> str:
    """Return an address as the system writes it. Raises DraftRefused for what it does not know."""
    if text in USER_NAMES:
        return HUMAN
    name = _checked("to", text.removeprefix("agent:"))
    holders = [each.session_id for each in agents.values() if name == each.role]
    if holders and name not in agents:
        raise DraftRefused("to", f"{name!r} is a role, and channels know agents alone", f"name {' or '.join(holders)}")
    return name


def _named_channel(tag: str, channels: list[str]) -> str:
    namespace, _, name = tag.partition(":")
    if namespace != "project":
        known = ", ".join(map(tag_of, channels)) or "none yet"
        raise DraftRefused("to", f"{tag!r} is no channel here", f"there are {known}")
    return _checked("to", name)


def _likely_channel(root: Path, draft: Draft, agent: Agent | None, channels: list[str]) -> str:
    """Return the channel of what is answered, else the only one, else the one the agent is in. Raises DraftRefused."""
    if draft.thread is not None and (answered := _channel_of(root, draft.thread, channels)):
        return answered
    if len(channels) == 1:
        return channels[0]
    known = [name for name in channels if agent is not None and tag_of(name) in agent.tags]
    if len(known) == 1:
        return known[0]
    choice = " or ".join(tag_of(name) for name in known or channels) or "one, such as project:general"
    raise DraftRefused("to", "names no channel", f"add the channel: {choice}")


def _channel_of(root: Path, message_id: str, channels: list[str]) -> str:
    """Return the channel in which a message is: its file is named for it, as a rule."""
    for name in channels if "/" not in message_id and "\0" not in message_id else ():
        if (root / CHANNELS / name / f"{message_id}.json").is_file():
            return name
    files = [path for name in channels for path in (root / CHANNELS / name).iterdir() if is_message(path.name)]
    for path in sorted(files, key=lambda path: path.name, reverse=True):
        if (found := _read(path)) is not None and found.id == message_id:
            return path.parent.name
    return ""


def _read(path: Path) -> Message | None:
    try:
        return decode(read_whole(path), path.parent.name, path.name, 0.0).message
    except (OSError, NotAFile, NoRecord):
        return None


def _checked(field: str, name: str) -> str:
    """Return a name that can be a part of a file's name. Raises DraftRefused."""
    if not name or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise DraftRefused(field, f"{name[:40]!r} can't be a part of a file's name", "give a shorter, plain name")
    odd = [char for char in name if char in "/\\:" or not char.isprintable() or char.isspace()]
    if odd:
        raise DraftRefused(field, f"{name!r} can't be a part of a file's name", f"leave {odd[0]!r} out")
    return name
