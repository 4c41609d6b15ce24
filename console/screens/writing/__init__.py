"""Writing: the composer, drafts, and messages that are held before they are sent."""
