"""Make the message that a draft is now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.words.cut_off_words import draft_refusal
from mailstore.errors import DraftRefused
from mailstore.store import Capability
from mailstore.writing.sending import prepare, split_addresses

if TYPE_CHECKING:
    from console.session import Session
    from console.state.composer_draft import ComposerDraft
    from mailstore.records.draft import Draft


def addresses_of(session: Session, writing: ComposerDraft) -> list[str]:
    """Return the recipients of a draft, as they were typed."""
    return [text for text in split_addresses([writing.recipients], session.live) if text.strip()]


def sendable_message(session: Session, writing: ComposerDraft) -> Draft:
    """Return the message that a draft is; raises DraftRefused, also where its mailbox is cut off."""
    message = prepare_message(session, writing)
    if (refusal := cut_off_refusal(session, writing, message.recipients)) is not None:
        raise refusal
    return message


def cut_off_refusal(session: Session, writing: ComposerDraft, recipients: Sequence[str]) -> DraftRefused | None:
    """Return the error for a draft whose mailbox is cut off; None if it can be reached."""
    for name in (writing.thread or "", *recipients):
        if (lost := session.live.cut_off_of(name)) is not None:
            return DraftRefused(*draft_refusal(lost, session.clock()))
    return None


def prepare_message(session: Session, writing: ComposerDraft) -> Draft:
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
        attachments=writing.attachments,
    )
