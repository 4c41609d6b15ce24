"""What can be moved to the archive, and the moving of it."""
