"""The inboxes of Claude Code agent teams (docs/formats/claude-teams.md)."""

from __future__ import annotations

from mailstore.kinds.claude_teams.store import ClaudeTeamsStore

__all__ = ["ClaudeTeamsStore"]
