"""The mailbox of neo.mjs' Memory Core, a graph in an SQLite database (formats/neo.md)."""

from __future__ import annotations

from mailstore.stores.neo.store import NeoStore

__all__ = ["NeoStore"]
