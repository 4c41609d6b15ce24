"""The queues and subagents of Codex, from its rollouts and databases (docs/formats/codex-threads.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.codex_threads.store:CodexStore", is_asked_last=True, homes=(".codex",))
