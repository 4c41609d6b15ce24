"""Mail in a Beads database: Gas Town's messages, issues with the label `gt:message` (docs/formats/beads.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.beads.store:BeadsStore", places=("mayor/town.json",))
