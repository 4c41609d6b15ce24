"""What a source is: parts, and the records in them with the places at which they stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.records.message import Location, Problem

__all__ = ["Origin", "Read", "Record"]


class Record(NamedTuple):
    """One record: its value, its bytes, where it stands, what its file's path says, and its line or row."""

    value: Any
    raw: bytes
    location: Location
    groups: Mapping[str, str] = {}
    line: int = 1


class Read(NamedTuple):
    """What a part holds; `is_torn` where more of it may come without a trace.

    Where `is_more`, it is what came since the last reading: all that was read then still stands there.
    """

    records: list[Record]
    problems: list[Problem]
    is_torn: bool = False
    is_more: bool = False


class Origin:
    """A source's parts, and the records in them."""

    folder: Path

    def parts(self, *, closely: bool) -> dict[str, Hashable]:
        """Return the parts with their stamps, the newest first. Raises OSError."""
        raise NotImplementedError

    def read(self, part: str, *, more: bool = False) -> Read:
        """Return what a part holds now; with `more` what came since the last reading may do. Raises OSError."""
        raise NotImplementedError

    def near(self, where: Location, column: str, text: str) -> Iterator[Record]:
        """Yield the records that may be the one that stood at a place, the likeliest first. Raises OSError.

        `column` is the one that holds `text`, its id, where there is such a column.
        """
        yield from self.read(where.file).records

    def below(self) -> list[str]:
        """Return the folders whose entries count besides the first."""
        return []
