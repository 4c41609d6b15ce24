"""Where the issues of a database are read from: its export, its tables, or what `bd` prints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.errors import reason_of
from mailstore.files.database import Unreadable
from mailstore.kinds.beads.lines import BeadsLines, name_of
from mailstore.kinds.beads.records import AGENT, CHANNEL, GROUP, MESSAGE, QUEUE, BeadsIssue, issue_of
from mailstore.records.message import Location, Message, Problem

ISSUE = ("", "issue")
QUOTED = tuple(f'"{label}"'.encode() for label in (MESSAGE, AGENT, CHANNEL, QUEUE, GROUP))


class PlacedIssue(NamedTuple):
    """An issue and where its record is."""

    issue: BeadsIssue
    location: Location


class IssueOrigin(ABC):
    """Reads all issues that concern mail. Methods block, and raise OSError and Unreadable."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name of the file, for a problem with it."""

    @abstractmethod
    def stamp(self) -> Hashable:
        """Return what changes with every write; raises OSError if there is nothing to read."""

    @abstractmethod
    def read(self, problems: list[Problem]) -> list[PlacedIssue]:
        """Return the issues; what can't be read is added to `problems`."""

    def newest(self, limit: int) -> list[PlacedIssue]:
        """Return the newest messages and all agents of a large database, if that is much quicker; else nothing."""
        return []

    @abstractmethod
    def record(self, message: Message) -> bytes:
        """Return a message's record as JSON. Raises ContentGone."""


class ExportOrigin(IssueOrigin):
    """The export of a database, `issues.jsonl`; in the oldest releases it is the database."""

    def __init__(self, path: Path, warning: str = "") -> None:
        self._lines = BeadsLines(path, name_of)
        self._warning = warning

    @property
    def name(self) -> str:
        """Return the file's name."""
        return self._lines.name

    def stamp(self) -> Hashable:
        """Return the file's stamp. Raises OSError."""
        stamp = self._lines.stamp()
        if stamp is None:
            raise FileNotFoundError(2, "No such file or directory", str(self._lines.path))
        return stamp

    def read(self, problems: list[Problem]) -> list[PlacedIssue]:
        """Return the issues in the file; its other records, such as memories, are no mail."""
        if self._warning:
            problems.append(Problem(self.name, 1, 0, self._warning, fatal=False))
        return [
            PlacedIssue(issue_of(line.value, line.name), line.location)
            for line in self._lines.read(problems)
            if line.value.get("_type", "") in ISSUE
        ]

    def newest(self, limit: int) -> list[PlacedIssue]:
        lines = self._lines.newest(limit, QUOTED[0], QUOTED[1:])
        return [PlacedIssue(issue_of(line.value, line.name), line.location) for line in lines]

    def record(self, message: Message) -> bytes:
        """Return the line of a message. Raises ContentGone."""
        return self._lines.record(message)


NO_AGENTS = "the rig's agents are missing"


class RigRecords(NamedTuple):
    """A rig's folder, within the town, and its database."""

    name: str
    origin: IssueOrigin

    def issues(self, problems: list[Problem]) -> Iterator[BeadsIssue]:
        """Yield the issues that are no mail; what can't be read, and that there is mail, is added to `problems`."""
        found: list[Problem] = []
        try:
            placed = self.origin.read(found)
        except FileNotFoundError:
            return  # the rig was removed
        except (OSError, Unreadable) as error:
            reason = reason_of(error)
            problems.append(Problem(self.name, 1, 0, f"{NO_AGENTS}: {reason}", fatal=False))
            return
        problems += [
            msgspec.structs.replace(problem, file=f"{self.name}/{problem.file}", fatal=False) for problem in found
        ]
        if count := sum(issue.issue.is_mail for issue in placed):
            many = f"{count:,} messages" if count > 1 else "a message"
            problems.append(Problem(self.name, 1, 0, f"{many} in the rig's own database: open it to see them", False))
        yield from (issue.issue for issue in placed if not issue.issue.is_mail)
