"""AgentAZAll: a folder for each agent, a file for each copy of a message (docs/formats/agentazall.md)."""

from __future__ import annotations

from mailstore.installed_kinds import OwnCommand, StoreKind

KIND = StoreKind(
    "mailstore.kinds.agentazall.store:AgentAZAllStore",
    places=("data/mailboxes",),
    tables={"transports": "mailstore.kinds.agentazall.sync.settings:TransportSettings"},
    commands=(
        OwnCommand(
            "sync",
            "Carry the mail of AgentAZAll agents to other machines and back",
            "mailstore.kinds.agentazall.sync.command",
            is_service=True,
        ),
    ),
)
