"""Text, ages and markdown as lines of cells; pure."""
