"""What is particular to each foreign kind of mailbox; what all have in common is in `tests/mailstore`."""
