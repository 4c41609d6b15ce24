"""Several mailboxes as one: every name is prefixed with the label of its mailbox."""

from mailstore.several.store import SeveralStore

__all__ = ["SeveralStore"]
