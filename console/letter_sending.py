"""Make the message that a draft is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mailstore.store import Capability
from mailstore.writing.sending import prepare, split_addresses

if TYPE_CHECKING:
    from console.composer_draft import ComposerDraft
    from console.session import Session
    from mailstore.records.draft import Draft

__all__ = ["addresses_of", "prepare_letter"]


def addresses_of(session: Session, writing: ComposerDraft) -> list[str]:
    """Return the recipients of a draft, as they were typed."""
    return [text for text in split_addresses([writing.recipients], session.live) if text.strip()]


def prepare_letter(session: Session, writing: ComposerDraft) -> Draft:
    """Return the message that a draft is in the live mailbox; raises DraftRefused."""
    addresses = addresses_of(session, writing)
    able = session.store.capabilities_for(writing.thread or next(iter(addresses), ""))
    return prepare(
        session.live,
        session.clock(),
        sender=session.user,
        recipients=addresses,
        subject=writing.subject.strip() if Capability.SUBJECT in able else "",
        content=writing.body,
        thread=writing.thread if Capability.REPLY in able else None,
    )
