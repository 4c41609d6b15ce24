"""MCP Agent Mail: its database, or its archive alone (docs/formats/agent-mail.md)."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind(
    "mailstore.kinds.agent_mail.store:AgentMailStore",
    tables={"agent_mail": "mailstore.kinds.agent_mail.settings:AgentMailSettings"},
)
