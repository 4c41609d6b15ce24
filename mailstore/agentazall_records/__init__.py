"""The letters of AgentAZAll as its mailboxes hold them and its transports carry them (docs/formats/agentazall.md)."""
