"""What the user is notified of, and how."""
