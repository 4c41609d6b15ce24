"""Writes the parts of a mailbox into a snapshot, each by its method `save`, and reads them back, each by `load`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

import msgspec

MAGIC = b"signalbox folded mailbox\n"
BYTES = "b"
"""The type code of a buffer of bytes; all others are those of `array`."""
SIZE_BYTES = 8

T = TypeVar("T")


class InvalidSnapshot(Exception):
    """The bytes are not a snapshot that this version can load."""


class _Header(msgspec.Struct):
    """What precedes the columns; the store gives `position` its meaning."""

    version: int
    user: str
    position: bytes
    columns: list[tuple[str, int]]
    values: list[msgspec.Raw]


class SnapshotWriter:
    """Collects values and columns in the order in which a reader asks for them."""

    def __init__(self) -> None:
        self._values: list[msgspec.Raw] = []
        self._columns: list[array[Any] | bytearray] = []

    def value(self, value: Any) -> None:
        """Add a value that is small, or fast to encode."""
        self._values.append(msgspec.Raw(msgspec.msgpack.encode(value)))

    def column(self, *columns: array[Any] | bytearray) -> None:
        """Add columns, which are written without encoding."""
        self._columns += columns

    def write(self, file: BinaryIO, version: int, user: str, position: bytes) -> None:
        """Write everything that was added. Raises OSError."""
        sizes = [(column.typecode if isinstance(column, array) else BYTES, len(column)) for column in self._columns]
        header = msgspec.msgpack.encode(_Header(version, user, position, sizes, self._values))
        file.write(MAGIC + len(header).to_bytes(SIZE_BYTES, "little") + header)
        for column in self._columns:
            file.write(memoryview(column))


class SnapshotReader:
    """Returns values and columns in the order in which they were written.

    Reading raises InvalidSnapshot, OSError, EOFError, ValueError and msgspec.MsgspecError.
    """

    def __init__(self, file: BinaryIO, version: int, user: str) -> None:
        if file.read(len(MAGIC)) != MAGIC:
            raise InvalidSnapshot("not a snapshot of a mailbox")
        size = int.from_bytes(file.read(SIZE_BYTES), "little")
        header = msgspec.msgpack.decode(file.read(size), type=_Header)
        if header.version != version or header.user != user:
            raise InvalidSnapshot("written by another version, or for another user")
        self.position = header.position
        self._values = iter(header.values)
        self._columns = iter([_read(file, typecode, length) for typecode, length in header.columns])
        if file.read(1):
            raise InvalidSnapshot("longer than its header says")

    def value(self, kind: type[T]) -> T:
        """Return the next value, checked against its type."""
        return msgspec.msgpack.decode(_next(self._values), type=kind)

    def column(self) -> Any:
        """Return the next column: an array, or a bytearray."""
        return _next(self._columns)

    def columns(self, number: int) -> list[Any]:
        """Return the next columns."""
        return [self.column() for _ in range(number)]

    def finish(self) -> None:
        """Check that everything was read."""
        if any(True for rest in (self._values, self._columns) for _ in rest):
            raise InvalidSnapshot("holds more than this version reads")


def _next(parts: Iterator[T]) -> T:
    for part in parts:
        return part
    raise InvalidSnapshot("holds less than this version reads")


def _read(file: BinaryIO, typecode: str, length: int) -> array[Any] | bytearray:
    if typecode == BYTES:
        data = bytearray(length)
        if file.readinto(data) != length:  # type: ignore[attr-defined]
            raise EOFError("truncated")
        return data
    values: array[Any] = array(typecode)
    values.fromfile(file, length)
    return values
