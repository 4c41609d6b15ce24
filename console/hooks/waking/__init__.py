"""Waking idle sessions: by which way, for which letters, and how often."""
