"""The parts of an Agenties mailbox: its log and the team."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

from msgspec.structs import replace

from mailstore.files.stamp import stamp_of
from mailstore.kinds.agenties.log import AgentiesLog
from mailstore.kinds.agenties.roster import agents, read_team, team_stamps
from mailstore.kit.part_reader import PartSource, is_settled
from mailstore.records.events import Event
from mailstore.records.message import Message

ROSTER = "roster"


class AgentiesSource(PartSource):
    """Two parts: the roster, which also depends on the mail, and the mail."""

    def __init__(self, mailbox: Path, log: AgentiesLog) -> None:
        self._mailbox = mailbox
        self._log = log
        self.begin()

    def begin(self) -> None:
        """Forget all messages seen so far."""
        self._told: set[str] = set()
        self._there: set[str] = set()

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        """Return the roster and the log. Raises OSError."""
        stamp = stamp_of(self._mailbox.lstat())
        return {ROSTER: (stamp, *team_stamps(self._mailbox.parent)), self._mailbox.name: stamp}

    def read(self, part: str) -> list[Event] | None:
        """Return the agents, or the mail with the newest first; None if the team file is half-written."""
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
        """Return an event's identity, which doesn't depend on where its line is."""
        return replace(event, location=None) if isinstance(event, Message) else event

    def why(self, lost: int) -> str:
        """Return the reason for a reload: a trimmed log, or changed messages."""
        gone = len(self._told - self._there)
        if not gone:
            return "messages were changed" if lost > 1 else "a message was changed"
        return (
            f"{gone:,} messages are gone: Agenties trims old mail"
            if gone > 1
            else ("a message is gone: Agenties trims old mail")
        )
