"""Write to MCP Agent Mail through its own server (docs/formats/agent-mail.md#writing)."""
