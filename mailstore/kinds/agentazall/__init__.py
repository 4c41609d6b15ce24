"""AgentAZAll: a folder for each agent, a file for each copy of a message (docs/formats/agentazall.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind(
    "mailstore.kinds.agentazall.store:AgentAZAllStore",
    places=("data/mailboxes",),
    tables={"transports": "mailstore.kinds.agentazall.sync.settings:TransportSettings"},
)
