"""A message whose record was changed where it stands is told again, and takes its own place."""

from __future__ import annotations

from typing import Any

import pytest

from mailstore.records.message import NEVER, Location, Message
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View

HERE = Location("mail.sqlite", 7, 0)
ALL, ARCHIVE = View("all"), View("archive")


def message(message_id: str = "m", location: Location | None = HERE, **fields: Any) -> Message:
    known = {"sender": "ann", "recipients": ("bob",), "timestamp": "", "time": 5.0, "subject": "s", "ttl_hours": NEVER}
    return Message(**{"id": message_id, "location": location, **known, **fields})


def folded(*messages: Message) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold([Agent("ann"), Agent("bob"), Agent("cyd")], 9.0)
    for each in messages:
        mailbox.fold([each], 9.0)
    return mailbox


CHANGES: list[dict[str, Any]] = [
    {"tags": ("task:Working",)},
    {"type": "question"},
    {"subject": "other"},
    {"recipients": ("cyd",)},
    {"archived": True},
    {"archived": True, "tags": ("x",)},
    {"time": 8.0, "thread": "root"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_what_is_told_last_is_all_there_is(change: dict[str, Any]) -> None:
    told, fresh = folded(message(), message(**change)), folded(message(**change))
    assert told.messages() == fresh.messages() == [message(**change)]
    assert told.counts() == fresh.counts()
    assert not told.duplicates
    for name in ("bob", "cyd"):
        assert told.unread(name, 9.0) == fresh.unread(name, 9.0)
        assert told.inbox(name, 9.0) == fresh.inbox(name, 9.0)
    assert told.threads(ARCHIVE) == fresh.threads(ARCHIVE)
    assert told.threads(ALL) == fresh.threads(ALL)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_what_is_told_back_is_as_it_was(change: dict[str, Any]) -> None:
    told, fresh = folded(message(), message(**change), message()), folded(message())
    assert told.messages() == fresh.messages()
    assert told.counts() == fresh.counts()
    assert told.threads(ARCHIVE) == fresh.threads(ARCHIVE) == []


def test_a_record_elsewhere_is_another_one_with_the_same_id() -> None:
    mailbox = folded(message(), message(location=Location("mail.sqlite", 9, 0), subject="other"))
    assert [each.subject for each in mailbox.messages()] == ["s"]
    assert [each.subject for each in mailbox.duplicates] == ["other"]
