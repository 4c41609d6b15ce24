"""AgentAZAll: a folder for each agent, a file for each copy of a message (docs/formats/agentazall.md)."""

from __future__ import annotations

from mailstore.kinds.agentazall.store import AgentAZAllStore

__all__ = ["AgentAZAllStore"]
