"""Retention: what is listed as recent, and what an archival leaves where it is; nothing is ever deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.rules.archive_plan import Reason
from mailstore.rules.retention import EVERYTHING, Retention, retained
from mailstore.state.mailbox import Mailbox
from mailstore.writing.archiving import plan_archive
from tests.mailboxes import HOUR, NOW, MailFiles

DAY = 24 * HOUR


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    for number, days in enumerate((40, 20, 10, 3, 1)):
        mail.message(f"m{number}", "bob-00000001", "all", ago=days * DAY)
    mail.message("m5", "bob-00000001", "all", ago=2 * HOUR, thread="m0")
    mail.message("m6", "bob-00000001", "all", timestamp="yesterday")
    return folded(mail)


def folded(mail: MailFiles) -> Mailbox:
    found = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            found.fold(batch, NOW)
    return found


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (EVERYTHING, "0123456"),
        (Retention(days=7), "345"),
        (Retention(messages=2), "56"),
        (Retention(days=2, messages=9), "45"),
        (Retention(days=30, messages=3), "45"),
        (Retention(days=0.01), ""),
    ],
)
def test_what_is_retained(rule: Retention, kept: str, mailbox: Mailbox) -> None:
    assert retained(mailbox.messages(), rule, NOW) == {f"m{number}" for number in kept}


def test_recent_threads_are_those_of_which_anything_is_retained(mailbox: Mailbox) -> None:
    assert mailbox.recent(Retention(days=7), NOW) == ["m0", "m4", "m3"]


def test_of_too_many_those_that_were_read_and_are_older_than_a_day_go_first(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    for name, hours in (("unread", 90), ("old", 80), ("older-unread", 70), ("read", 50), ("half", 40), ("fresh", 2)):
        to = ["ann-00000001", "bob-00000001"] if name == "half" else "ann-00000001"
        mail.message(name, "bob-00000001", to, ago=hours * HOUR, ttl_hours=1)
        if "unread" not in name:
            mail.read(name, "ann-00000001", ago=hours * HOUR - 600)
    found = folded(mail)

    def left(number: int) -> set[str]:
        plan = plan_archive(found, NOW, 0, Retention(messages=number))
        return {message.id for message in found.messages()} - {each for thread in plan.threads for each in thread}

    assert left(5) == {"unread", "older-unread", "read", "half", "fresh"}
    assert left(4) == {"unread", "older-unread", "half", "fresh"}
    assert left(3) == {"older-unread", "half", "fresh"}, "then the oldest"
    assert left(1) == {"fresh"}


def test_an_archival_leaves_what_is_retained(mailbox: Mailbox) -> None:
    plan = plan_archive(mailbox, NOW, 0, Retention(days=7))
    assert plan.threads == (("m1",), ("m2",))
    assert next(stay.messages for stay in plan.stays if stay.reason is Reason.RETAINED) == 3


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Retention(days=1), "1 day"),
        (Retention(days=7.5, messages=5000), "7.5 days, the newest 5,000"),
        (EVERYTHING, "everything"),
    ],
)
def test_the_rule_in_words(rule: Retention, words: str) -> None:
    assert rule.words == words
