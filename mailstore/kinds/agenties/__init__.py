"""The Agenties mailbox: one log of JSON lines per project (docs/formats/agenties.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.agenties.store:AgentiesStore", places=(".agenties/mailbox.jsonl",))
