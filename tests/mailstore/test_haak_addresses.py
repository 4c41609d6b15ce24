"""What addresses in a HAAK mailbox mean, and when mail expires (docs/semantics.md#addresses)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import DIALECTS, HOUR, NOW, Dialect, MailFiles, every_case, iso
from tests.mailstore.haak_reading import folded

ANN, BOB, EVE = "ann-00000001", "bob-00000001", "eve-00000001"
LONG_AGO = iso(NOW - 90 * 24 * HOUR)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def states(mailbox: Mailbox, message_id: str, now: float = NOW) -> dict[str, str]:
    message = mailbox.message(message_id)
    assert message is not None
    return {name: standing.state.value for name, standing in mailbox.states(message, now).items()}


def unread(mail: MailFiles, session_id: str) -> int:
    return folded(mail).unread_count(session_id)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_kind_of_address_has_every_state_in_both_dialects(tmp_path: Path, dialect: Dialect) -> None:
    mail, expected = every_case(tmp_path, dialect=dialect)
    mailbox = folded(mail)
    assert {name: states(mailbox, name) for name in expected} == expected


# 6, 9: roles


def test_a_message_to_a_role_is_claimed_for_all_when_one_holder_has_read_it(mail: MailFiles) -> None:
    mail.agent(ANN, role="clerk", started_at=LONG_AGO)
    mail.agent(BOB, role="clerk", started_at=LONG_AGO)
    mail.message("m", EVE, "clerk")
    assert [unread(mail, each) for each in (ANN, BOB)] == [1, 1]
    mail.read("m", ANN)
    assert [unread(mail, each) for each in (ANN, BOB)] == [0, 0]
    mailbox = folded(mail)
    message = mailbox.message("m")
    assert message is not None
    assert mailbox.states(message, NOW)["clerk"].by == (ANN,)


def test_a_later_holder_sees_what_was_claimed_and_what_waits(mail: MailFiles) -> None:
    mail.agent(ANN, "dead", role="clerk", started_at=LONG_AGO, ended_at=iso(NOW - 2 * HOUR))
    mail.message("claimed", EVE, "clerk", ago=4 * HOUR)
    mail.read("claimed", ANN, ago=3 * HOUR)
    mail.message("waiting", EVE, "clerk", ago=HOUR)
    assert states(folded(mail), "waiting") == {"clerk": "waiting"}
    mail.agent(BOB, role="clerk", started_at=iso(NOW - HOUR / 2))
    mailbox = folded(mail)
    assert [message.id for message in mailbox.inbox(BOB, NOW)] == ["claimed", "waiting"]
    assert [message.id for message in mailbox.unread(BOB, NOW)] == ["waiting"]


# 7: a direct address


@pytest.mark.parametrize(
    ("recipient", "reached"),
    [
        (ANN, ANN),
        ("ann-0000", ANN),
        ("ann-000", "ann-000"),
        ("twin-000", "twin-000"),
        ("The Clerk", ANN),
    ],
)
def test_a_direct_address_is_a_session_a_unique_prefix_or_a_name(mail: MailFiles, recipient: str, reached: str) -> None:
    mail.agent(ANN, name="The Clerk")
    mail.agent("twin-00000001")
    mail.agent("twin-00000002")
    mail.message("m", BOB, recipient)
    assert list(states(folded(mail), "m")) == [reached]


# 8: a bare name


def test_a_bare_name_that_is_a_session_and_a_role_is_the_session(mail: MailFiles) -> None:
    mail.agent("architect", started_at=LONG_AGO)
    mail.agent(BOB, role="architect", started_at=LONG_AGO)
    mail.message("m", EVE, "architect")
    assert unread(mail, "architect") == 1
    assert unread(mail, BOB) == 0


# 11: literal addresses


def test_only_the_four_namespaces_are_tags(mail: MailFiles) -> None:
    mail.agent(ANN, tags=["project:ink", "signal:+351000000"])
    mail.message("literal", EVE, "signal:+351000000")
    mail.message("tag", EVE, "project:ink")
    mailbox = folded(mail)
    assert states(mailbox, "literal") == {"signal:+351000000": "unknown"}
    assert states(mailbox, "tag") == {ANN: "unread"}


# 13, 15: time


def test_a_message_expires_at_the_very_second(mail: MailFiles) -> None:
    mail.agent(ANN, started_at=LONG_AGO)
    mail.message("m", EVE, ANN, ago=2 * HOUR, ttl_hours=2)
    mailbox = folded(mail)
    assert states(mailbox, "m", NOW - 1) == {ANN: "unread"}
    assert states(mailbox, "m", NOW) == {ANN: "expired"}


def test_the_clock_stands_still_while_a_recipient_is_frozen(mail: MailFiles) -> None:
    mail.agent(ANN, started_at=LONG_AGO, updated=LONG_AGO)
    mail.message("m", EVE, ANN, ago=3 * HOUR, ttl_hours=2)
    mail.agent(ANN, "frozen", started_at=LONG_AGO, updated=iso(NOW - 2.5 * HOUR))
    assert states(folded(mail), "m") == {ANN: "frozen"}
    mail.agent(ANN, started_at=LONG_AGO, updated=iso(NOW - HOUR))
    mailbox = folded(mail)
    assert states(mailbox, "m") == {ANN: "unread"}
    assert states(mailbox, "m", NOW + HOUR) == {ANN: "expired"}


# 16: death


def test_a_session_that_no_roster_knows_is_unknown_and_not_dead(mail: MailFiles) -> None:
    mail.message("m", EVE, "somebody-0001")
    assert states(folded(mail), "m") == {"somebody-0001": State.UNKNOWN}


# 22: the person


@pytest.mark.parametrize("name", ["user", "human", "person:morgan"])
def test_the_person_goes_by_several_names(mail: MailFiles, name: str) -> None:
    mail.message("m", EVE, name)
    mailbox = folded(mail)
    assert [message.id for message in mailbox.unread("user", NOW)] == ["m"]
