"""The sessions of OpenCode, and what they told their child sessions (docs/formats/opencode-sessions.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind(
    "mailstore.kinds.opencode_sessions.store:OpenCodeStore",
    tables={"opencode": "mailstore.kinds.opencode_sessions.settings:OpenCodeSettings"},
    is_asked_last=True,
    homes=(".local/share/opencode",),
)
