"""The mailbox in memory: the reference of what a store must do."""

from __future__ import annotations

from mailstore.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
