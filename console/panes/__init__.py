"""The panes of the console."""
