"""Streams: all messages of a place in order of time, and following the newest."""
