"""Sources of records: parts, and the records in them with their locations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.records.message import Location, Problem


class MappedRecord(NamedTuple):
    """One record: its value, bytes, location, the groups of its file's path, and its line or row number."""

    value: Any
    raw: bytes
    location: Location
    groups: Mapping[str, str] = {}
    line: int = 1


class OriginRead(NamedTuple):
    """The contents of a part; `is_torn` if it may change without a new stamp.

    If `is_more`, only what was added since the last reading; everything read before is unchanged.
    """

    records: list[MappedRecord]
    problems: list[Problem]
    is_torn: bool = False
    is_more: bool = False


class Origin:
    """A source: its parts and their records."""

    folder: Path

    def parts(self, *, closely: bool) -> dict[str, Hashable]:
        """Return the parts with their stamps, newest first. Raises OSError."""
        raise NotImplementedError

    def read(self, part: str, *, more: bool = False) -> OriginRead:
        """Return the contents of a part; with `more`, additions since the last reading are enough. Raises OSError."""
        raise NotImplementedError

    def near(self, where: Location, column: str, text: str) -> Iterator[MappedRecord]:
        """Yield the records that may be the one from a location, most likely first. Raises OSError.

        `column` is the column with its id, `text`, if there is one.
        """
        yield from self.read(where.file).records

    def below(self) -> list[str]:
        return []
