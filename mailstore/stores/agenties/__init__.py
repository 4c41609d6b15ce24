"""The mailbox of an Agenties project: one log of JSON lines, kept by its owner."""

from __future__ import annotations

from mailstore.stores.agenties.store import AgentiesStore

__all__ = ["AgentiesStore"]
