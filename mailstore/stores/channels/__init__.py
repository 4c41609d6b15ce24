"""Channel folders of a Multi-Agent OS: a JSON file for each message."""

from __future__ import annotations

from mailstore.stores.channels.store import ChannelsStore

__all__ = ["ChannelsStore"]
