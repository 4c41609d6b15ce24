"""Keep two mailboxes the same while programs use both (docs/mirror.md)."""
