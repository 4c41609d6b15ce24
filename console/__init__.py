"""What a user or an agent types at: the terminal console and the commands."""
