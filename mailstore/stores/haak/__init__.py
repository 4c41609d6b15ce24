"""The HAAK mailbox, the protocol of the first seed."""

from __future__ import annotations

from mailstore.stores.haak.store import HaakStore

__all__ = ["HaakStore"]
