"""Copies of mail that leave a mailbox: for another mailbox, or for other eyes."""
