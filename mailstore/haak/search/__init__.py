"""Finds which messages of a HAAK mailbox may hold a word, by the bytes of its files."""
