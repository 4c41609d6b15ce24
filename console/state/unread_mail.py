"""An agent's unread mail, also where its kind of mailbox has no read records.

What the records say is decided by `mailstore/rules/unread.py`. Where they say nothing, Signalbox keeps in its own state
which messages it has shown to each agent: none is shown twice, and none is missed that arrives late with an older time
(docs/decisions/0036).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

from console.settings.config import state_file
from console.state.personal_state import FOREVER, PersonalState, Shown
from mailstore.delegating import ReadOnly
from mailstore.errors import StoreError
from mailstore.files.folder import may_exist
from mailstore.records.message import Message, by_age
from mailstore.records.scope import label_of
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

Purpose = Literal["read", "wake"]
"""What mail is handed out for: for the agent to read, or to wake it."""


def keeps_reads(store: Store, mailbox: Mailbox, reader: str) -> bool:
    """Say whether the mailbox can record all that an agent reads, so that Signalbox stores none of it itself."""
    names = ("", reader, *(f"{label}/" for label in mailbox.mailboxes()))
    is_kept = all(Capability.MARK_READ in store.capabilities_for(name) for name in names)
    return (is_kept or isinstance(store, ReadOnly)) and not mailbox.has_unrecorded()


def is_kept(store: Store, mailbox: Mailbox, message: Message, reader: str) -> bool:
    """Say whether it can be recorded in the mailbox itself that an agent has read a message.

    Where each recipient has a copy of its own, that is in the copy.
    """
    names = (message.id, reader) if label_of(message.id) == label_of(reader) else (message.id,)
    if not message.is_tracked or not all(Capability.MARK_READ in store.capabilities_for(name) for name in names):
        return False
    copies = mailbox.traces(message.id)
    return not copies or any(copy.slot and copy.owner == reader for copy in copies)


def _ids_of(mailbox: Mailbox, message: Message) -> list[str]:
    """Return the ids of all copies of a message: which of them represents it may change when more copies arrive."""
    return [message.id, *(trace.message_id for trace in mailbox.traces(message.id))]


def _was_shown(shown: Shown, mailbox: Mailbox, message: Message) -> bool:
    return any(map(shown.holds, _ids_of(mailbox, message)))


def shown_to(store: Store, reader: str, purpose: Purpose = "read", until: float | None = None) -> Shown:
    """Return what was shown to an agent until a time, by default until now; blocks."""
    if not may_exist(state_file()):
        return Shown()
    with _state() as state:
        return state.shown(store.url, reader, purpose, FOREVER if until is None else until)


@contextmanager
def _state() -> Iterator[PersonalState]:
    """Open Signalbox's own state; raises StoreError where its database can't be used."""
    state = PersonalState(state_file())
    try:
        yield state
    finally:
        state.close()


def unread_mail(store: Store, mailbox: Mailbox, reader: str, now: float, shown: Shown | None = None) -> list[Message]:
    """Return what an agent, or the user, has still to read, the oldest first.

    Without `shown`, what was shown is looked up, which blocks; for a mailbox in the past, what had been shown by then.
    """
    messages = mailbox.unread(reader, now)
    if keeps_reads(store, mailbox, reader):
        return messages
    if shown is None:
        shown = shown_to(store, reader, until=now if isinstance(store, ReadOnly) else None)
    known = {message.id for message in messages}
    messages += (message for message in mailbox.unrecorded(reader, now) if message.id not in known)
    before = {message.id for message in _from_before(mailbox, reader, shown, messages)}
    left = [
        message
        for message in messages
        if is_kept(store, mailbox, message, reader) or not (_was_shown(shown, mailbox, message) or message.id in before)
    ]
    return sorted(left, key=by_age)


def unread_count(store: Store, mailbox: Mailbox, session_id: str) -> int | None:
    """Return how many unread messages an agent has by its mailbox's records; None where there are no such records.

    What Signalbox itself showed doesn't count: the agent may have read its mail in other ways, or not at all.
    """
    count = mailbox.unread_count(session_id)
    is_told = Capability.MARK_READ in store.capabilities_for(session_id) or isinstance(store, ReadOnly)
    return count if count or is_told or not mailbox.has_unrecorded() else None


def unread_words(count: int | None) -> str:
    """Return a number of unread messages for a table: empty for none, a question mark where it is unknown."""
    return "?" if count is None else str(count or "")


def _from_before(mailbox: Mailbox, reader: str, shown: Shown, mail: Iterable[Message]) -> list[Message]:
    """Return what was sent to whole channels before an agent was registered, unless it was handed mail before."""
    agent = mailbox.roster.get(reader)
    if agent is None or agent.started_at is None:
        return []
    return [
        message
        for message in mail
        if message.timed
        and message.time < agent.started_at
        and (label_of(message.id) if mailbox.mailboxes() else "") not in shown.begun
        and mailbox.is_talk(message, reader)
    ]


class Reads(NamedTuple):
    """What has to be recorded when mail was shown: in the mailbox itself (`kept`), and in Signalbox's own state.

    `kept` has the ids of all copies of each message, and `copies` those of the messages `beside`, and of mail from
    before the reader was registered; `is_beside` says whether Signalbox stores anything itself.
    """

    kept: Mapping[str, tuple[str, ...]]
    beside: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    is_beside: bool = False


def reads_of(
    store: Store, mailbox: Mailbox, reader: str, messages: Collection[Message], now: float, shown: Shown
) -> Reads:
    """Return what has to be recorded when a reader was shown these messages, but for those it has read."""
    unread = (
        message
        for message in messages
        if is_kept(store, mailbox, message, reader) and not mailbox.has_read(message.id, reader)
    )
    kept = {message.id: tuple(_ids_of(mailbox, message)) for message in unread}
    if keeps_reads(store, mailbox, reader):
        return Reads(kept)
    beside = [
        message
        for message in messages
        if not (is_kept(store, mailbox, message, reader) or _was_shown(shown, mailbox, message))
    ]
    before = _from_before(mailbox, reader, shown, mailbox.unrecorded(reader, now))
    copies = (name for message in (*beside, *before) for name in _ids_of(mailbox, message))
    return Reads(kept, tuple(message.id for message in beside), tuple(copies), True)


def record(store: Store, reader: str, reads: Reads) -> list[str]:
    """Record that messages were shown to a reader; return their ids. Blocks.

    Raises StoreError, also where Signalbox's own state can't be written.
    """
    if reads.kept:
        store.mark_read(reader, list(dict.fromkeys(each for ids in reads.kept.values() for each in ids)))
    if reads.is_beside:
        note_shown(store, reader, reads.copies)
    return [*reads.kept, *reads.beside]


def note_shown(store: Store, reader: str, message_ids: Iterable[str], purpose: Purpose = "read") -> None:
    """Store that messages were shown to an agent; blocks, raises StoreError."""
    with _state() as state:
        if state.is_in_memory:
            raise StoreError(
                f"{state.path} can't be used", "check the file; mail shown now will be shown again", "E212"
            )
        state.mark_shown(store.url, reader, purpose, message_ids, time.time())
