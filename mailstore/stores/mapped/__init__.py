"""Mail of any shape in JSONL, JSON files or an SQLite database, told of by a mapping file (formats/mapped.md)."""

from __future__ import annotations

from mailstore.stores.mapped.store import MappedStore

__all__ = ["MappedStore"]
