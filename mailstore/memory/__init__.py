"""The mailbox in memory, the reference implementation of the store contract."""

from __future__ import annotations

from mailstore.memory.store import MemoryStore

__all__ = ["MemoryStore"]
