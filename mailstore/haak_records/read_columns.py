"""Decode usual read records into columns, a block of lines at a time."""

from __future__ import annotations

import msgspec
import numpy as np

from mailstore.bulk.keys import keys_of, texts_of
from mailstore.bulk.parts import ReadColumns, UnusualBlock
from mailstore.bulk.shares import LineBlock
from mailstore.bulk.stamps import seconds_of
from mailstore.columns.interned import InternTable
from mailstore.columns.messages import MessageHead
from mailstore.haak_records.mail_columns import check_lines


class UsualRead(msgspec.Struct, gc=False):
    """The usual form of a read record."""

    message_id: str
    reader_session_id: str
    timestamp: str


LINES = msgspec.json.Decoder(UsualRead)


class ReadDecoder:
    """Turn blocks into columns."""

    def __init__(self) -> None:
        self.names: InternTable[str] = InternTable()
        self.heads: InternTable[MessageHead] = InternTable()
        self._names = self.names.numbering()

    def columns(self, block: LineBlock) -> ReadColumns:
        """Return a block's records; raises UnusualBlock, ValueError and RecursionError for any that is not usual."""
        found = LINES.decode_lines(block.data)
        check_lines(block, len(found))
        ids, readers = [one.message_id for one in found], [one.reader_session_id for one in found]
        stamps = seconds_of([one.timestamp for one in found])
        if stamps is None or not all(ids) or not all(readers):
            raise UnusualBlock
        numbers = np.fromiter(map(self._names.__getitem__, readers), np.uint32, len(readers))
        return ReadColumns(keys_of(texts_of(ids)), numbers, stamps[0], block.ends.astype(np.uint32))


def id_in(data: bytes) -> str:
    """Return the message id in a usual line."""
    return LINES.decode(data).message_id
