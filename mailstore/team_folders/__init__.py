"""What stores of agent teams share whose programs delete mail and teams: a journal, the members, their tasks."""
