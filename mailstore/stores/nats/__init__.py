"""A mailbox in a JetStream stream, shared by any number of hosts (docs/formats/nats.md)."""
