"""What an Agenties mailbox consists of: its log, and the team."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

from msgspec.structs import replace

from mailstore.files.stamp import stamp_of
from mailstore.kit.part_reader import PartSource, is_settled
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.stores.agenties.log import Log
from mailstore.stores.agenties.roster import agents, read_team, team_stamps

__all__ = ["AgentiesSource"]

ROSTER = "roster"


class AgentiesSource(PartSource):
    """Two parts: the roster, which the mail tells of too, and the mail."""

    def __init__(self, mailbox: Path, log: Log) -> None:
        self._mailbox = mailbox
        self._log = log
        self.begin()

    def begin(self) -> None:
        """Forget which messages there were."""
        self._told: set[str] = set()
        self._there: set[str] = set()

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the roster and the log. Raises OSError."""
        stamp = stamp_of(self._mailbox.lstat())
        return {ROSTER: (stamp, *team_stamps(self._mailbox.parent)), self._mailbox.name: stamp}

    def read(self, part: str) -> list[Event] | None:
        """Return the agents, or the mail, the newest first; None where the team's file is half-written."""
        contents = self._log.contents()
        if part == ROSTER:
            team = read_team(self._mailbox.parent)
            stamps = filter(None, team_stamps(self._mailbox.parent))
            if team.is_torn and not is_settled(max((stamp.changed for stamp in stamps), default=0) / 1e9):
                return None
            in_order = sorted(contents.entries.values(), key=lambda entry: entry.message.time)
            return [*agents(team.members, in_order), *team.problems]
        self._there = set(contents.entries)
        self._told |= self._there
        events: list[Event] = []
        for entry in reversed(contents.entries.values()):
            events += (entry.message, *entry.receipts)
        return [*events, *contents.problems]

    def same(self, event: Event) -> Hashable:
        """Return what tells an event from others: a line that was moved or written again says the same."""
        return replace(event, location=None) if isinstance(event, Message) else event

    def why(self, lost: int) -> str:
        """Say whether the owner has trimmed its log, or changed what was said."""
        gone = len(self._told - self._there)
        if not gone:
            return "messages were changed" if lost > 1 else "a message was changed"
        return (
            f"{gone:,} messages are no longer there: its owner trims old mail"
            if gone > 1
            else ("a message is no longer there: its owner trims old mail")
        )
