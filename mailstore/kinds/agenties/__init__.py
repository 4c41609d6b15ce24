"""The Agenties mailbox: one log of JSON lines per project (docs/formats/agenties.md)."""

from __future__ import annotations

from mailstore.kinds.agenties.store import AgentiesStore

__all__ = ["AgentiesStore"]
