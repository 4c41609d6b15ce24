"""The notices that a session gets of its mail, when, and their texts."""
