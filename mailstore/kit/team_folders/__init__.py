"""What stores of agent teams share whose programs delete mail and teams: places, a journal, members, tasks."""
