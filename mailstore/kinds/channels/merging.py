"""Take messages of other mailboxes into channels that agents read and write.

A message's file has a name that follows from its id, and appears complete or not at all. So whoever comes second finds
the name taken, and looks whose it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mailstore.errors import StoreError
from mailstore.files.durable import Pending
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import read_whole
from mailstore.kinds.channels.adopt import placed_message
from mailstore.kinds.channels.decode import InvalidChannelFile, decode
from mailstore.kinds.channels.places import CHANNELS
from mailstore.kinds.channels.source import ChannelsSource
from mailstore.kit.json_records import encode_record
from mailstore.kit.known_records import KnownRecords
from mailstore.kit.part_reader import PartReader
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged, TurnedAway
from mailstore.records.message import Delivery, Receipt
from mailstore.records.roster import Agent

INCOMPLETE = "it has no sender or no recipient"


class ChannelsMerger:
    """Writes the messages that are in no channel yet. One thread at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._reader = PartReader(ChannelsSource(root))
        self._known: KnownRecords | None = None

    def merge(self, records: Sequence[Adopted]) -> Merged:
        """Write the messages that are missing; other records have no place here. Raises StoreError, OSError."""
        known = self._read_along()
        present: list[Adopted] = []
        refused: list[TurnedAway] = []
        for record in records:
            if why := _why_not(record):
                refused.append(TurnedAway(record, why))
            elif not known.missing([record]) or not self._write(record, known):
                present.append(record)
            known.add(record)
        return Merged(tuple(present), tuple(refused))

    def _read_along(self) -> KnownRecords:
        if self._known is None:
            self._known = KnownRecords()
            for batch in self._reader.scan():
                self._known.take(batch)
        for batch in self._reader.changes(True):
            self._known.take(batch)
        return self._known

    def _write(self, record: Adopted, known: KnownRecords) -> bool:
        """Write a message to a file of its own; return False if another program has done it meanwhile."""
        assert isinstance(record, AdoptedMessage)
        channel, stems, fields = placed_message(record, known.roster)
        folder = self._root / CHANNELS / channel
        if folder.is_symlink():
            raise StoreError(
                f"{folder} is a symbolic link", "links are not followed: use the folder it points to", "E290"
            )
        make_folder(folder, look_of(self._root / CHANNELS))
        data = msgspec.json.format(encode_record(fields), indent=2) + b"\n"
        for stem in stems:
            path = folder / f"{stem}.json"
            with Pending(path, data, look_of(folder)) as pending:
                if pending.appear():
                    return True
            if _id_in(path, channel) == record.message.id:
                return False
        raise StoreError(f"{folder} has no unused name for {record.message.id}", "look at what is there", "E373")


def _why_not(record: Adopted) -> str:
    """Return why a record can't be held; empty if it can."""
    match record:
        case AdoptedMessage(message=message):
            return "" if message.sender.strip() and any(map(str.strip, message.recipients)) else INCOMPLETE
        case Agent():
            return "each agent writes its own registration and presence"
        case Receipt():
            return "channels have no read records"
        case Delivery():
            return "channels don't record whom a message reached"
    return "channels have no journal"


def _id_in(path: Path, channel: str) -> str:
    try:
        return decode(read_whole(path), channel, path.name, 0.0).message.id
    except (OSError, InvalidChannelFile):
        return ""
