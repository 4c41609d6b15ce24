"""The message log, and the messages in it that are not in the graph yet (docs/formats/neo.md#files)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.files.lines import BIG_BLOCK, Line, LineFile, Replaced

SEGMENT = re.compile(r"message-wal-\d{4}-\d{2}-\d{2}\.jsonl")
PROJECTION = 1
"""The version of log records that the program accepts."""


class Waiting(NamedTuple):
    """A record that is not marked as being in the graph: its file and line."""

    file: str
    line: Line


class _Known(msgspec.Struct, gc=False, rename="camel"):
    id: str
    graph_projection_version: int = PROJECTION


DECODER = msgspec.json.Decoder(_Known)


class WriteAheadQueue:
    """Follow the log's files and their markers, keeping only queued records. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.begin()

    def begin(self) -> None:
        self._files: dict[str, tuple[LineFile, LineFile]] = {}
        self._waiting: dict[str, Waiting] = {}
        self._done: set[str] = set()

    def look(self) -> dict[str, Waiting]:
        """Return the queued records by node id, in log order. Raises OSError."""
        try:
            self._read()
        except Replaced:
            self.begin()
            try:
                self._read()
            except Replaced:
                # it keeps changing: return what was read so far, the next look reads the rest
                self._files.clear()
        return dict(self._waiting)

    def _read(self) -> None:
        try:
            names = sorted(name for name in os.listdir(self._folder) if SEGMENT.fullmatch(name))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            names = []
        if self._files.keys() - set(names):
            raise Replaced("a file of the log is gone")
        for name in names:
            if name not in self._files:
                path = self._folder / name
                if path.is_symlink() or not path.is_file():
                    continue
                self._files[name] = LineFile(path), LineFile(path.with_suffix(".graph.jsonl"))
            records, markers = self._files[name]
            self._mark(markers)
            for lines in records.read(block=BIG_BLOCK):
                for line in lines:
                    known = _known(line.data)
                    if known and known.graph_projection_version == PROJECTION and known.id not in self._done:
                        self._waiting.setdefault(known.id, Waiting(name, line))
            self._mark(markers)

    def _mark(self, markers: LineFile) -> None:
        for lines in markers.read(block=BIG_BLOCK):
            for line in lines:
                if known := _known(line.data):
                    self._done.add(known.id)
                    self._waiting.pop(known.id, None)


def _known(data: bytes) -> _Known | None:
    """Decode a line of the log; None for an invalid one, which the program skips too."""
    try:
        known = DECODER.decode(data)
    except (ValueError, RecursionError):
        return None
    return known if known.id.startswith("MESSAGE:") else None
