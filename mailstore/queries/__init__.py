"""Questions asked of a folded mailbox: searches, what needs attention, timelines."""
