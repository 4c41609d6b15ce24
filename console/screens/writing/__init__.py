"""Writing: the composer, drafts, and letters that are held before they are sent."""
