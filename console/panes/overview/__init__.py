"""The panes of the overview: the heartbeat, agents, channels, and who writes to whom."""
