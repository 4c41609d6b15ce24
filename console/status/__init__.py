"""A mailbox's numbers for status bars: counted when it changes, kept in the cache folder, printed at once."""
