"""MCP Agent Mail: its database, or its archive alone (docs/formats/agent-mail.md)."""

from __future__ import annotations

from mailstore.kinds.agent_mail.store import AgentMailStore

__all__ = ["AgentMailStore"]
