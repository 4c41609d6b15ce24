"""The terminal: its driver, questions to it, and keys that come early."""
