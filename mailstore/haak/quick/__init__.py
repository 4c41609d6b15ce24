"""One agent's unread mail, read without folding the mailbox: what a hook asks at every start."""
