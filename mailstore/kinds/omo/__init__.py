"""The inboxes of oh-my-openagent's team mode (docs/formats/omo.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.omo.store:OmoStore", places=(".omo/runtime",))
