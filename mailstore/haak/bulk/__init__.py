"""Reads all of a HAAK mailbox at once, as columns."""
