"""The inboxes of Claude Code agent teams (docs/formats/claude-teams.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.claude_teams.store:ClaudeTeamsStore", is_asked_last=True, homes=(".claude/teams",))
