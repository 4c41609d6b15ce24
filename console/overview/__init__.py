"""What the overview says, whether on the screen or as text (docs/overview.md)."""
