"""Reads lines of a HAAK mailbox as records."""
