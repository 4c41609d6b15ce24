"""What agents are given to read: each message fenced, a limited portion at a time."""
