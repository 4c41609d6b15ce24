"""Writes lines of a HAAK mailbox."""
