"""Any JSONL, JSON files or SQLite database as mail, described by a mapping file (docs/formats/mapped.md)."""

from __future__ import annotations

from mailstore.installed_kinds import OwnCommand, StoreKind

KIND = StoreKind(
    "mailstore.kinds.mapped.store:MappedStore",
    commands=(OwnCommand("map", "Guess a mapping for a custom mail format", "mailstore.kinds.mapped.command"),),
)
