"""The Memory Core of neo.mjs: a graph in an SQLite database (docs/formats/neo.md)."""

from __future__ import annotations

from mailstore.kinds.neo.store import NeoStore

__all__ = ["NeoStore"]
