"""Mail in a Beads database: Gas Town's messages, issues with the label `gt:message` (docs/formats/beads.md)."""

from mailstore.kinds.beads.store import BeadsStore

__all__ = ["BeadsStore"]
