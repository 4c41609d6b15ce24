"""One module for each kind of mailbox."""
