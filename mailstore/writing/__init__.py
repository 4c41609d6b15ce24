"""What is checked and planned before something is written into a mailbox."""
