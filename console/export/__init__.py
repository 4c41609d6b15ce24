"""Exports: messages as documents that stand alone and can be checked against the mailbox."""
