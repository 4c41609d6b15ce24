"""The user's own state, saved beside the mailbox."""
