"""The desks: lists of what needs attention and of dead letters, whose rows are acted upon with one key."""
