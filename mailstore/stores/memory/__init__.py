"""The mailbox in memory, the reference implementation of the store contract."""

from __future__ import annotations

from mailstore.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
