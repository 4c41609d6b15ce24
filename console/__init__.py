"""What a person or an agent types at: the terminal console and the commands."""
