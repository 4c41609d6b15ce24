"""Moves messages of a HAAK mailbox into its archive while other programs append to it."""
