"""The settings: what may be set, the files they stand in, what is wrong with them; themes."""
