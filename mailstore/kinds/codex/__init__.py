"""The queues and subagents of Codex, from its rollouts and databases (docs/formats/codex.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.codex.store:CodexStore", is_asked_last=True, homes=(".codex",))
