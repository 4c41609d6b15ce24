"""The mail between Claude Code's sessions, from their transcripts (docs/formats/claude-sessions.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind(
    "mailstore.kinds.claude_sessions.store:ClaudeSessionsStore",
    is_asked_last=True,
    homes=(".claude/projects",),
)
