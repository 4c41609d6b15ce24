"""What a sync does: for which agents of which mailbox, by which accounts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mailstore.errors import MailError
from mailstore.kinds.agentazall.names import plain_of
from mailstore.kinds.agentazall.rules import OPEN, Filter
from mailstore.kinds.agentazall.transports.transport import Transport

EVERY_SECONDS = 10.0


class WrongSettings(MailError):
    """A setting of a transport can't be used; the problem names file and key."""


class AccountPlan(NamedTuple):
    """One account of an agent: how to open it, and what others are called there."""

    kind: str
    address: str
    """What the agent itself is called there."""

    open: Callable[[], Transport]
    addresses: dict[str, str]

    def called(self, address: str) -> str:
        """Return what the recipient is called there: a relay knows `bob@localhost` as `bob`."""
        if address in self.addresses or self.kind != "relay":
            return self.addresses.get(address, address)
        return plain_of(address)

    def here(self, address: str) -> str:
        """Return what somebody there is called here."""
        return next((ours for ours, theirs in self.addresses.items() if theirs == address), address)


class AgentPlan(NamedTuple):
    """An agent by its address, its accounts, and which senders it accepts."""

    name: str
    accounts: tuple[AccountPlan, ...] = ()
    filter: Filter = OPEN


class SyncPlan(NamedTuple):
    """A folder of mailboxes, its agents, and how often to look."""

    root: Path
    agents: tuple[AgentPlan, ...]
    every_seconds: float = EVERY_SECONDS
    warnings: tuple[str, ...] = ()
