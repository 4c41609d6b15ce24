"""What a session is told of its mail, when, and in which words."""
