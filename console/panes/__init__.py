"""One module for each pane."""
