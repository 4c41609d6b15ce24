"""Show the sessions of a coding agent as agents, and what they tell their subagents as messages."""
