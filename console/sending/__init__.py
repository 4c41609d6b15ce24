"""Messages that are held before they are sent, and what a draft becomes."""
