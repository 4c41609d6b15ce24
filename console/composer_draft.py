"""A draft as it stands in the composer."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["ComposerDraft"]


class ComposerDraft(Struct, frozen=True):
    """A draft as it stands in the composer; `key` names where it belongs, `action` how it is journalled."""

    key: str
    recipients: str = ""
    subject: str = ""
    body: str = ""
    thread: str | None = None
    action: str = ""

    @property
    def is_blank(self) -> bool:
        """Say whether nothing worth keeping was written."""
        return not self.body.strip()
