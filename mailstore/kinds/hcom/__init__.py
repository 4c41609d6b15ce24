"""The events of hcom (docs/formats/hcom.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.hcom.store:HcomStore", places=(".hcom/hcom.db",))
