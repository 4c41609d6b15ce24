"""What the rosters of two mailboxes said of one agent, and which of them is ahead.

Clocks of two machines may differ by an hour, so what counts first is which line was written in view of the other one:
a mailbox that said something else since both agreed is ahead, or one that once said what the other one says now. Times
decide only between lines that were written without each other.
"""

from __future__ import annotations

from collections import deque

from mailstore.kit.known_records import agent_digest
from mailstore.records.roster import Agent

KEPT = 200
"""Lines of an agent that can be written elsewhere: one that was cut off for longer gets the last of them."""
NO_TIME = float("-inf")


class AgentLines:
    """The lines of one agent in one mailbox, in their order."""

    def __init__(self) -> None:
        self._lines: deque[tuple[bytes, Agent]] = deque(maxlen=KEPT)
        self._digests: set[bytes] = set()

    def put(self, agent: Agent) -> None:
        """Add a line."""
        digest = agent_digest(agent)
        self._lines.append((digest, agent))
        self._digests.add(digest)

    @property
    def last(self) -> Agent:
        """The line that counts."""
        return self._lines[-1][1]

    @property
    def digest(self) -> bytes:
        """The digest of the line that counts."""
        return self._lines[-1][0]

    def had(self, digest: bytes) -> bool:
        """Say whether a line of this digest was ever read here."""
        return digest in self._digests

    def since(self, digest: bytes | None) -> list[Agent]:
        """Return the lines after the last one of a digest; all that are kept if there is none."""
        agents: list[Agent] = []
        for each, agent in reversed(self._lines):
            if each == digest:
                break
            agents.append(agent)
        return agents[::-1]


def is_ahead(ours: AgentLines, theirs: AgentLines, common: bytes | None) -> bool:
    """Say whether what one mailbox says of an agent should replace what the other one says.

    `common` is the digest of the line on which both agreed last, if that is known. For two mailboxes that say
    different things it is true one way and false the other.
    """
    if common in (ours.digest, theirs.digest):
        return common == theirs.digest
    knows, is_known = ours.had(theirs.digest), theirs.had(ours.digest)
    if knows != is_known:
        return knows
    return _rank(ours) > _rank(theirs)


def _rank(lines: AgentLines) -> tuple[float, bytes]:
    updated = lines.last.updated
    return NO_TIME if updated is None else float(int(updated // 1)), lines.digest
