"""Short ways from a HAAK mailbox on disk to what a store and a mailbox make of it."""

from __future__ import annotations

from mailstore.conformance.following import of, scanned
from mailstore.haak import HaakStore
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import MailFiles


def events(mail: MailFiles) -> list[Event]:
    """Return all that a scan yields."""
    with HaakStore.open(mail.data) as store:
        return scanned(store)


def messages(mail: MailFiles) -> dict[str, Message]:
    """Return the messages by id; fails where an id comes twice."""
    found = of(Message, events(mail))
    by_id = {message.id: message for message in found}
    assert len(by_id) == len(found)
    return by_id


def message(mail: MailFiles) -> Message:
    """Return the only message."""
    (only,) = of(Message, events(mail))
    return only


def body(mail: MailFiles, one: Message) -> str:
    """Return a message's body."""
    with HaakStore.open(mail.data) as store:
        return store.content(one)


def problems(mail: MailFiles) -> list[Problem]:
    """Return what is wrong with the files, in the order of the lines."""
    return sorted(of(Problem, events(mail)), key=lambda one: (one.file, one.line, one.offset))


def warnings(mail: MailFiles) -> list[str]:
    """Return the reasons of problems that hid nothing."""
    return [one.reason for one in problems(mail) if not one.fatal]


def fatal(mail: MailFiles) -> list[tuple[int, int]]:
    """Return line and offset of every problem that hid a record."""
    return [(one.line, one.offset) for one in problems(mail) if one.fatal]


def folded(mail: MailFiles) -> Mailbox:
    """Return the mailbox as it stands at the files' own now."""
    mailbox = Mailbox(user="user")
    mailbox.fold(events(mail), mail.now)
    return mailbox
