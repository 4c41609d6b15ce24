"""The kind of mailbox that teams of Claude Code agents keep (formats/claude-teams.md)."""

from __future__ import annotations

from mailstore.stores.claude_teams.store import ClaudeTeamsStore

__all__ = ["ClaudeTeamsStore"]
