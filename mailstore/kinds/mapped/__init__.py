"""Any JSONL, JSON files or SQLite database as mail, described by a mapping file (docs/formats/mapped.md)."""

from __future__ import annotations

from mailstore.kinds.mapped.store import MappedStore

__all__ = ["MappedStore"]
