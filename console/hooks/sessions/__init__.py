"""Who the agent of a session is, what the hooks remember of it, and its entry in the roster."""
