"""The sessions of Gemini CLI, and of Qwen Code, which began as it, as agents (docs/formats/gemini-sessions.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.gemini_sessions.store:GeminiStore", is_asked_last=True, homes=(".gemini", ".qwen"))
