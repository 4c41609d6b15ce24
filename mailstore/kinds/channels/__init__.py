"""The channel folders of Multi-Agent OS: one JSON file per message (docs/formats/channels.md)."""

from __future__ import annotations

from mailstore.kinds.channels.store import ChannelsStore

__all__ = ["ChannelsStore"]
