"""The folded mailbox: takes events in, and answers what panes and commands ask."""
