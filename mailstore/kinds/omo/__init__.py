"""The inboxes of oh-my-openagent's team mode (docs/formats/omo.md)."""

from __future__ import annotations

from mailstore.kinds.omo.store import OmoStore

__all__ = ["OmoStore"]
