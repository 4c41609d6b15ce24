"""Waking idle sessions: by which way, for which messages, and how often."""
