"""The agents of a town's rigs, from their own databases; what is not read there is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from mailstore.errors import reason_of
from mailstore.files.database import Unreadable
from mailstore.kinds.beads.origins import IssueOrigin
from mailstore.kinds.beads.records import BeadsIssue
from mailstore.records.message import Problem

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
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            problems.append(Problem(self.name, 1, 0, f"{NO_AGENTS}: {reason}", fatal=False))
            return
        problems += [msgspec.structs.replace(each, file=f"{self.name}/{each.file}", fatal=False) for each in found]
        if count := sum(each.issue.is_mail for each in placed):
            many = f"{count:,} messages" if count > 1 else "a message"
            problems.append(Problem(self.name, 1, 0, f"{many} in the rig's own database: open it to see them", False))
        yield from (each.issue for each in placed if not each.issue.is_mail)
