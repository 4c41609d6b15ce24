"""The sizes of panes, which the person changes."""
