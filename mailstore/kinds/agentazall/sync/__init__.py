"""Carry the mail of AgentAZAll mailboxes to other machines and back: `signalbox sync`."""
