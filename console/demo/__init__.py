"""The demo: a temporary mailbox with simulated agents."""
