"""The user's own marks: what they muted, starred and snoozed (docs/quiet.md)."""
