"""Any JSONL, JSON files or SQLite database as mail, described by a mapping file (docs/formats/mapped.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.mapped.store:MappedStore")
