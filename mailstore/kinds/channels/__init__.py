"""The channel folders of Multi-Agent OS: one JSON file per message (docs/formats/channels.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.channels.store:ChannelsStore")
