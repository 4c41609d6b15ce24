"""What the user has muted, snoozed and starred: kept by the console, never by a store."""

from __future__ import annotations

import msgspec

NONE: frozenset[str] = frozenset()


class OwnMarks(msgspec.Struct, frozen=True):
    """All of it, as one event: it replaces what was known. Never comes from a store.

    Muted are channels by tag, agents by session id, types (`LABEL/TYPE` for those of one of several mailboxes) and
    threads; a thread is named by any of its messages. `starred` are messages, `starred_threads` whole threads.
    """

    channels: frozenset[str] = NONE
    agents: frozenset[str] = NONE
    types: frozenset[str] = NONE
    threads: frozenset[str] = NONE
    snoozed: frozenset[str] = NONE
    starred: frozenset[str] = NONE
    starred_threads: frozenset[str] = NONE

    @property
    def mutes(self) -> bool:
        """Whether anything is muted."""
        return bool(self.channels or self.agents or self.types or self.threads)
