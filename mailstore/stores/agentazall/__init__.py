"""The kind of store for AgentAZAll: a folder for each agent, a file for each copy of a message."""

from __future__ import annotations

from mailstore.stores.agentazall.store import AgentAZAllStore

__all__ = ["AgentAZAllStore"]
