"""The reference in docs/reference, made from the code: commands, keys, settings, themes, queries, JSON and messages."""
