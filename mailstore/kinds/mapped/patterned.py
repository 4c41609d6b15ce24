"""Records in files that match a pattern: one per line, or JSON files of one or many records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterator
from fnmatch import translate
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from mailstore.errors import reason_of
from mailstore.files.folder import Folder, Stamp
from mailstore.files.lines import Line
from mailstore.files.salvage import UNREADABLE, loads, salvage
from mailstore.files.whole import NotAFile, open_regular, read_whole
from mailstore.kinds.mapped.fields import at_path
from mailstore.kinds.mapped.origins import MappedRecord, Origin, OriginRead
from mailstore.kit.part_reader import is_settled
from mailstore.records.message import Location, Problem

LARGEST_LINES = 1 << 30
WILD = re.compile(r"[*?[]")
MOST_FOLDERS = 10_000


class PatternedFiles(Origin):
    """The files that match a pattern; `*`, `?` and `[…]` match within a name, `**` any folders."""

    def __init__(self, folder: Path, pattern: str, path: str | None) -> None:
        full = Path(os.path.normpath(folder / Path(pattern).expanduser()))
        parts = full.parts
        literal = next((at for at, part in enumerate(parts[:-1]) if WILD.search(part)), len(parts) - 1)
        self.folder = Path(*parts[:literal]).resolve()
        self._middle = parts[literal:-1]
        self._name = re.compile(translate(parts[-1]))
        self._path = re.compile(path) if path else None
        self._folders: dict[str, Folder] = {}
        self._looked: dict[str, dict[str, Stamp]] = {}
        self._last: dict[str, Hashable] = {}
        self._unreadable: dict[str, str] = {}
        """Why a folder can't be looked at, of those that can't."""

    def _folder(self, name: str) -> Folder:
        if name not in self._folders:
            self._folders[name] = Folder(self.folder / name, lambda name: bool(self._name.fullmatch(name)))
        return self._folders[name]

    def parts(self, *, closely: bool) -> dict[str, Hashable]:
        """Return the files by path from the first folder, last changed first; the same mapping if nothing changed."""
        os.scandir(self.folder).close()
        before, self._unreadable = self._unreadable, {}
        names = list(self._matching("", self._middle))[:MOST_FOLDERS]
        looked = {name: self._look(name, closely=closely) for name in names}
        self._folders = {name: self._folders[name] for name in names}
        is_same = looked.keys() == self._looked.keys() and all(looked[name] is self._looked[name] for name in names)
        if is_same and self._unreadable == before:
            return self._last
        stamps: dict[str, Stamp] = {}
        for name in names:
            stamps.update((f"{name}/{file}" if name else file, stamp) for file, stamp in looked[name].items())
        self._looked = looked
        self._last = {name: stamps[name] for name in sorted(stamps, key=lambda name: -stamps[name].changed)}
        self._last |= self._unreadable
        return self._last

    def _look(self, name: str, *, closely: bool) -> dict[str, Stamp]:
        try:
            return self._folder(name).look(closely=closely)
        except OSError as error:
            self._unreadable[name] = reason_of(error)
            return self._looked.get(name, {})

    def _matching(self, name: str, middle: tuple[str, ...]) -> Iterator[str]:
        """Yield the folders that match the middle of the pattern; links are not followed."""
        if not middle:
            yield name
            return
        first, rest = middle[0], middle[1:]
        if first == "**":
            yield from self._matching(name, rest)
        if first != "**" and not WILD.search(first):
            yield from self._matching(f"{name}/{first}" if name else first, rest)
            return
        wanted = re.compile(translate(first))
        try:
            with os.scandir(self.folder / name) as entries:
                below = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return
        except OSError as error:
            self._unreadable[name] = reason_of(error)
            return
        for each in below:
            inner = f"{name}/{each}" if name else each
            if first == "**":
                yield from self._matching(inner, middle)
            elif wanted.fullmatch(each):
                yield from self._matching(inner, rest)

    def below(self) -> list[str]:
        stamps = dict.fromkeys(self._folders)
        for name in list(stamps):
            stamps.update((str(parent), None) for parent in Path(name).parents)
        return [name for name in stamps if name not in ("", ".")]

    def groups(self, part: str) -> dict[str, str]:
        """Return the named groups in a file's path."""
        match = self._path.search(part) if self._path else None
        return {name: text for name, text in match.groupdict().items() if text} if match else {}

    def _bytes(self, part: str, largest: int) -> bytes | OriginRead:
        """Return a file's bytes, or a Read with the problem."""
        if part in self._unreadable:
            return OriginRead([], [Problem(part, 1, 0, self._unreadable[part])])
        try:
            return read_whole(self.folder / part, largest)
        except FileNotFoundError:
            return OriginRead([], [])
        except NotAFile as error:
            return OriginRead([], [Problem(part, 1, 0, str(error))])
        except OSError as error:
            return OriginRead([], [Problem(part, 1, 0, reason_of(error))])

    def _is_settled(self, part: str) -> bool:
        try:
            return is_settled((self.folder / part).lstat().st_mtime)
        except OSError:
            return True


class Head(NamedTuple):
    """The part of a file that was read: its length in bytes and lines, and its checksum."""

    end: int
    lines: int
    checksum: int


class PatternedLines(PatternedFiles):
    """Files with one record per line."""

    def __init__(self, folder: Path, pattern: str, path: str | None) -> None:
        super().__init__(folder, pattern, path)
        self._heads: dict[str, Head] = {}

    def near(self, where: Location, column: str, text: str) -> Iterator[MappedRecord]:
        """Yield the record at the location, then the file's other records."""
        path = self.folder / where.file
        fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            data = os.pread(fd, where.length, where.offset)
        finally:
            os.close(fd)
        for piece in salvage(Line(where.offset, data))[0]:
            if isinstance(piece.value, dict):
                yield MappedRecord(piece.value, piece.data, where, self.groups(where.file))
        yield from super().near(where, column, text)

    def read(self, part: str, *, more: bool = False) -> OriginRead:
        """Return a file's records; a last line without newline is held back until it has settled."""
        data = self._bytes(part, LARGEST_LINES)
        if isinstance(data, OriginRead):
            return data
        head = self._heads.pop(part, None) if more else None
        if head is not None and (len(data) < head.end or crc32(memoryview(data)[: head.end]) != head.checksum):
            head = None
        start = head or Head(0, 0, 0)
        lines = data[start.end :].split(b"\n")
        end = lines.pop()
        is_torn = bool(end.strip()) and not self._is_settled(part)
        if end.strip() and not is_torn and len(salvage(Line(0, end))[0]) == 1 and end.rstrip().endswith(b"}"):
            lines.append(end)
        else:
            whole = len(data) - len(end)
            checksum = crc32(memoryview(data)[start.end : whole], start.checksum)
            self._heads[part] = Head(whole, start.lines + len(lines), checksum)
        records, problems = self._cut(part, lines, start)
        return OriginRead(records, problems, is_torn, is_more=head is not None)

    def _cut(self, part: str, lines: list[bytes], start: Head) -> tuple[list[MappedRecord], list[Problem]]:
        groups = self.groups(part)
        records: list[MappedRecord] = []
        problems: list[Problem] = []
        offset = start.end
        for number, line in enumerate(lines, start.lines + 1):
            pieces, faults = salvage(Line(offset, line))
            problems += (Problem(part, number, fault.offset, fault.reason, fault.hides) for fault in faults)
            for piece in pieces:
                if isinstance(piece.value, dict):
                    where = Location(part, piece.offset, len(piece.data))
                    records.append(MappedRecord(piece.value, piece.data, where, groups, number))
                else:
                    problems.append(Problem(part, number, piece.offset, "is not a record: not a JSON object"))
            offset += len(line) + 1
        return records, problems


class PatternedDocuments(PatternedFiles):
    """Files of one JSON value: a record, a list of records, or an object with such a list."""

    def __init__(self, folder: Path, pattern: str, path: str | None, records: str | None) -> None:
        super().__init__(folder, pattern, path)
        self._records = records

    def read(self, part: str, *, more: bool = False) -> OriginRead:
        """Return a file's records; an invalid one that was changed just now may be half-written."""
        data = self._bytes(part, 64 << 20)
        if isinstance(data, OriginRead):
            return data
        try:
            value = loads(data)
        except UNREADABLE:
            if not self._is_settled(part):
                return OriginRead([], [], is_torn=True)
            return OriginRead([], [Problem(part, 1, 0, "is invalid JSON" if data.strip() else "is empty")])
        groups = self.groups(part)
        found = at_path(value, self._records) if self._records else value
        if isinstance(found, dict) and not self._records:
            return OriginRead([MappedRecord(found, data, Location(part, 0, len(data)), groups)], [])
        if not isinstance(found, list):
            where = f" at {self._records}" if self._records else ""
            return OriginRead([], [Problem(part, 1, 0, f"contains no records{where}")])
        records, problems = [], []
        for number, each in enumerate(found):
            if isinstance(each, dict):
                raw = json.dumps(each, ensure_ascii=False).encode("utf-8", "replace")
                records.append(MappedRecord(each, raw, Location(part, number, 0), groups))
            else:
                problems.append(Problem(part, 1, 0, f"number {number + 1} is not a record: not a JSON object"))
        return OriginRead(records, problems)
