"""The records of a mailbox as immutable values, and how people, roles and channels are named."""
