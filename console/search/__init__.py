"""What queries are evaluated on, what they find, and earlier ones."""
