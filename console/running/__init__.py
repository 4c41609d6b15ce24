"""Work beside the keys: idle moments, deferred imports, steps, failures and the log."""
