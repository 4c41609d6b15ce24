"""A draft as it stands in the composer."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["ComposerDraft", "in_words"]


class ComposerDraft(Struct, frozen=True):
    """A draft as it stands in the composer; `key` names where it belongs, `action` how it is journalled."""

    key: str
    recipients: str = ""
    subject: str = ""
    body: str = ""
    thread: str | None = None
    action: str = ""
    updated: float = 0.0
    """When it was changed last, in seconds since the epoch."""

    @property
    def is_blank(self) -> bool:
        """Say whether nothing worth keeping was written."""
        return not self.body.strip()


def in_words(body: str) -> str:
    """Return how many words the person wrote, and how many they quote."""
    own = quoted = 0
    for line in body.splitlines():
        if line.startswith(">"):
            quoted += len(line.lstrip("> ").split())
        else:
            own += len(line.split())
    return f"{own} word{'s' * (own != 1)}" + (f", {quoted} quoted" if quoted else "")
