"""The sessions of Copilot CLI and what they told their agents (docs/formats/copilot-sessions.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.copilot_sessions.store:CopilotStore", is_asked_last=True, homes=(".copilot",))
