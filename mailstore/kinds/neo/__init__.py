"""The Memory Core of neo.mjs: a graph in an SQLite database (docs/formats/neo.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.neo.store:NeoStore", places=(".neo-ai-data/sqlite/memory-core-graph.sqlite",))
