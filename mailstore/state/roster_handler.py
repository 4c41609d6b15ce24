"""Folds what rosters say: agents, the names of the user, the mailboxes that are open side by side."""

from __future__ import annotations

from mailstore.records.events import Mailboxes, Person
from mailstore.records.protocol import BROADCAST_NAMES
from mailstore.records.roster import Agent
from mailstore.rules.audience import message_expiry
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing


class RosterHandler:
    """Updates the roster, and what depends on it; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing

    def agent(self, agent: Agent, now: float) -> None:
        """Fold a line about an agent, and file the mail again that it may change."""
        contents = self._contents
        before = contents.roster.get(agent.session_id)
        if not contents.roster.put(agent):
            return
        if before is None or before.name != agent.name:
            self._filing.quieting.agents_changed()
        contents.summaries.clear()
        contents.index.views.forget_agents()
        messages, ledger = contents.messages, contents.ledger
        for row in sorted(contents.index.postings.touched_by(agent, before)):
            if messages.is_there(row) and (ledger.is_open(row) or not self._is_over(row, agent.session_id, now)):
                self._filing.file(row, now)

    def _is_over(self, row: int, session_id: str, now: float) -> bool:
        """Return whether a message is only a broadcast and has expired: no change of an agent concerns it."""
        contents = self._contents
        head = contents.messages.head(row)
        if head.mentions or contents.receipts.deliveries.has(row) or not BROADCAST_NAMES.issuperset(head.recipients):
            return False
        message, roster = contents.messages[row], contents.roster
        return roster.end_for(session_id, message.time, message_expiry(message, roster, contents.user)) <= now

    def person(self, person: Person) -> None:
        """Fold further names of the user; everything is filed again if one is new."""
        roster = self._contents.roster
        if not roster.person.issuperset(person.names):
            roster.person.update(person.names)
            roster.resolved.clear()
            self._filing.rebuild_later()

    def mailboxes(self, mailboxes: Mailboxes) -> None:
        """Fold the labels of mailboxes that are open side by side."""
        roster = self._contents.roster
        roster.scopes.update(mailboxes.labels)
        roster.resolved.clear()
