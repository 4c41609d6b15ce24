"""While you were away: the card and the list."""
