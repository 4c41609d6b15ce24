"""What becomes of a message where rules meet: one record after the other, many at once, and a hook's quick reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from mailstore.folding import fold_store
from mailstore.haak import HaakStore
from mailstore.haak.quick.quick_unread import Unusual, quick_unread
from mailstore.records.message import Message
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import DAY, HOUR, NOW, MailFiles, iso

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"
READ, UNREAD, DEAD, EXPIRED = State.READ, State.UNREAD, State.DEAD, State.EXPIRED
FROZEN, WAITING, UNKNOWN, ARCHIVED = State.FROZEN, State.WAITING, State.UNKNOWN, State.ARCHIVED
Folded = Callable[[MailFiles], Mailbox]
OPEN = {State.UNREAD, State.FROZEN}


@pytest.fixture
def mail(tmp_path_factory: pytest.TempPathFactory) -> MailFiles:
    return MailFiles(tmp_path_factory.mktemp("mail"))


@pytest.fixture(params=["one by one", "at once", "later"])
def folded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Folded:
    """Fold a mailbox in a way, and hold what it counts against what it lists."""

    def fold(mail: MailFiles) -> Mailbox:
        with HaakStore.open(mail.data) as store:
            if request.param == "at once":
                monkeypatch.setattr("mailstore.haak.store.LONG", 0)
                monkeypatch.setattr("mailstore.bulk.build.FEWEST", 1)
                mailbox = fold_store(store, "user", NOW)
            else:
                mailbox = Mailbox()
                for batch in store.scan():
                    mailbox.fold(batch, NOW if request.param == "one by one" else NOW - 3 * DAY)
                mailbox.advance(NOW)
        for agent in mailbox.roster:
            unread = [message.id for message in mailbox.unread(agent.session_id, NOW)]
            assert mailbox.unread_count(agent.session_id) == len(unread)
            assert set(unread) <= {message.id for message in mailbox.inbox(agent.session_id, NOW)}
            inbox = mailbox.inbox(agent.session_id, NOW)
            own = [mailbox.bare_states(message, NOW).get(agent.session_id) for message in inbox]
            assert mailbox.own_unread_count(agent.session_id, NOW) == sum(map(OPEN.__contains__, own))
            with suppress(Unusual):
                assert quickly(mail, agent.session_id) == unread
        return mailbox

    return fold


def states(mailbox: Mailbox, message_id: str = "m") -> dict[str, State]:
    message = mailbox.message(message_id)
    assert message is not None
    found = mailbox.bare_states(message, NOW)
    assert {name: it.state for name, it in mailbox.states(message, NOW).items()} == found
    return found


def dead(mailbox: Mailbox) -> list[tuple[str, str]]:
    return sorted((mail_item.message.id, mail_item.recipient) for mail_item in mailbox.dead_letters(NOW))


def ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]


def quickly(mail: MailFiles, reader: str) -> list[str]:
    return [one.id for one in quick_unread(str(mail.mailbox), reader, NOW)]


# A delivery record


def test_who_has_a_message_by_a_delivery_record_alone_has_it_until_its_ttl_runs_out(
    mail: MailFiles, folded: Folded
) -> None:
    mail.agent(ANN)
    mail.agent(BOB)
    for name, ago, more in (("direct", 25, {}), ("fresh", 2, {}), ("short", 2, {"ttl_hours": 1})):
        mail.message(name, "user", BOB, ago=ago * HOUR, **more)
        mail.delivery(name, ANN)
    mail.message("talk", "user", "project:ink", ago=90 * HOUR)
    mail.delivery("talk", ANN)
    mailbox = folded(mail)
    assert states(mailbox, "direct") == {BOB: EXPIRED, ANN: EXPIRED}
    assert states(mailbox, "fresh") == {BOB: UNREAD, ANN: UNREAD}
    assert states(mailbox, "short") == {BOB: EXPIRED, ANN: EXPIRED}
    assert states(mailbox, "talk") == {ANN: UNREAD}
    assert dead(mailbox) == [("direct", BOB), ("short", BOB)]  # only an address makes a dead letter
    assert ids(mailbox.inbox(ANN, NOW)) == ["talk", "direct", "fresh", "short"]
    assert quickly(mail, ANN) == ["talk", "fresh"]


def test_a_delivery_to_one_whom_the_roster_no_longer_knows_is_a_dead_letter(mail: MailFiles, folded: Folded) -> None:
    mail.agent(BOB)
    mail.message("m", "user", BOB)
    mail.delivery("m", "gone-00000001")
    mailbox = folded(mail)
    assert states(mailbox) == {BOB: UNREAD, "gone-00000001": UNKNOWN}
    assert dead(mailbox) == [("m", "gone-00000001")]


@pytest.mark.parametrize("name", ["cid-0000", "Cid", f"agent:{CID}", "scribe", "role:scribe"])
def test_a_delivery_record_names_whom_it_means_like_an_address(mail: MailFiles, folded: Folded, name: str) -> None:
    mail.agent(BOB)
    mail.agent(CID, name="Cid", role="scribe")
    mail.message("m", "user", BOB)
    mail.delivery("m", name)
    mailbox = folded(mail)
    assert states(mailbox) == {BOB: UNREAD, "scribe" if "scribe" in name else CID: UNREAD}
    assert ids(mailbox.unread(CID, NOW)) == ["m"]
    assert quickly(mail, CID) == ["m"]


# Several ways


@pytest.mark.parametrize("turn", [1, -1])
def test_of_several_ways_the_longest_ttl_counts_and_a_direct_one_makes_a_dead_letter(
    mail: MailFiles, folded: Folded, turn: int
) -> None:
    mail.agent(ANN, tags=["project:ink"], role="clerk")
    mail.agent(BOB)
    mail.message("tag", BOB, [ANN, "project:ink"][::turn], ago=90 * HOUR)
    mail.message("all", BOB, [ANN, "all"][::turn], ago=10 * HOUR)
    mail.message("none", BOB, [ANN, "all"][::turn], ago=30 * HOUR)
    mail.message("over", BOB, [ANN, "project:ink", "clerk"][::turn], ago=3 * HOUR, ttl_hours=1)
    mailbox = folded(mail)
    assert states(mailbox, "tag") == {ANN: UNREAD}
    assert states(mailbox, "all") == {ANN: UNREAD}
    assert states(mailbox, "none") == {ANN: EXPIRED}
    assert states(mailbox, "over") == {ANN: EXPIRED, "clerk": EXPIRED}
    assert dead(mailbox) == [("none", ANN), ("over", ANN)]
    assert quickly(mail, ANN) == ["tag", "all"]


def test_a_mention_lasts_as_long_as_the_message(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN)
    mail.agent(BOB, tags=["project:ink"])
    mail.message("m", CID, [ANN, "project:ink"], f"Dear @{ANN} and @{BOB}.", ago=90 * HOUR)
    mail.message("n", CID, ANN, f"Dear @{ANN}.", ago=90 * HOUR)
    mailbox = folded(mail)
    assert states(mailbox) == {ANN: UNREAD, BOB: UNREAD}
    assert states(mailbox, "n") == {ANN: EXPIRED}


@pytest.mark.parametrize("turn", [1, -1])
def test_a_role_is_no_way_to_its_holder(mail: MailFiles, folded: Folded, turn: int) -> None:
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    mail.message("m", CID, [ANN, "clerk"][::turn], f"Dear @{ANN} and @{BOB}.", ago=30 * HOUR)
    for name in ("clerk", ANN, BOB):
        mail.delivery("m", name)
    mail.message("role", CID, "clerk", f"Dear @{BOB}.", ago=30 * HOUR)
    assert states(folded(mail)) == {"clerk": UNREAD, ANN: EXPIRED, BOB: EXPIRED}
    assert states(folded(mail), "role") == {"clerk": UNREAD, BOB: UNREAD}
    assert dead(folded(mail)) == [("m", ANN)]
    assert quickly(mail, ANN) == ["m", "role"]
    assert quickly(mail, BOB) == ["role"]


# A role and a session of one name


def test_a_role_and_a_session_of_one_name_are_two(mail: MailFiles, folded: Folded) -> None:
    mail.agent("clerk")
    mail.agent(ANN, role="clerk")
    mail.message("m", BOB, ["role:clerk", "clerk"])
    mail.message("read", BOB, ["clerk", "role:clerk"])
    mail.read("read", ANN)
    mail.message("own", BOB, ["clerk", "role:clerk"])
    mail.read("own", "clerk")
    mailbox = folded(mail)
    assert states(mailbox) == {"role:clerk": UNREAD, "clerk": UNREAD}
    assert states(mailbox, "read") == {"clerk": UNREAD, "role:clerk": READ}
    assert states(mailbox, "own") == {"clerk": READ, "role:clerk": UNREAD}
    assert ids(mailbox.unread("clerk", NOW)) == ["m", "read"]
    assert ids(mailbox.unread(ANN, NOW)) == ["m", "own"]
    assert quickly(mail, "clerk") == ["m", "read"]
    assert quickly(mail, ANN) == ["m", "own"]


def test_that_a_holder_of_the_role_read_it_settles_nothing_for_the_session(mail: MailFiles, folded: Folded) -> None:
    mail.agent("clerk", "dead", ended_at=iso(NOW - HOUR))
    mail.agent(ANN, role="clerk")
    mail.message("m", BOB, "clerk", ago=2 * HOUR)
    mailbox = folded(mail)
    assert dead(mailbox) == [("m", "clerk")]
    mail.read("m", ANN)
    assert dead(folded(mail)) == [("m", "clerk")]
    assert states(folded(mail)) == {"clerk": DEAD, ANN: READ}


# Notes to oneself


def test_a_note_to_oneself_is_unread_until_it_is_read(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN, role="clerk", tags=["project:ink"])
    mail.agent(BOB, role="clerk")
    mail.message("note", ANN, ANN)
    mail.message("read", ANN, ANN)
    mail.read("read", ANN)
    mail.message("old", ANN, ANN, ago=30 * HOUR)
    for address in ("all", "project:ink", "clerk", "user"):
        mail.message(address, ANN, address, f"@{ANN}, @clerk")
    mail.message("both", ANN, ["project:ink", ANN])
    mail.read("clerk", ANN)
    mailbox = folded(mail)
    assert ids(mailbox.unread(ANN, NOW)) == ["note", "both"]
    assert states(mailbox, "read") == {ANN: READ}
    assert dead(mailbox) == [("old", ANN)]
    assert states(mailbox, "all") == {BOB: UNREAD}
    assert states(mailbox, "project:ink") == {BOB: UNREAD}
    assert states(mailbox, "clerk") == {"clerk": UNREAD, BOB: UNREAD}  # its sender reads for no role
    assert ids(mailbox.inbox(ANN, NOW)) == ["old", "note", "read", "both"]
    assert quickly(mail, ANN) == ["note", "both"]


def test_a_note_of_the_person_to_itself_is_unread_too(mail: MailFiles, folded: Folded) -> None:
    mail.message("m", "human", "person:me")
    mailbox = folded(mail)
    assert states(mailbox) == {"user": UNREAD}
    assert ids(mailbox.unread("user", NOW)) == ["m"]


# TTLs


@pytest.mark.parametrize("hours", [1e9, 10**12, 1e300, 10**400])
def test_a_ttl_is_a_number_however_large(mail: MailFiles, folded: Folded, hours: float) -> None:
    mail.agent(ANN)
    mail.message("m", BOB, ANN, ago=90 * DAY, ttl_hours=hours)
    mailbox = folded(mail)
    assert states(mailbox) == {ANN: UNREAD}
    assert mailbox.problems == []
    message = mailbox.message("m")
    assert message is not None
    assert mailbox.expiry(message) is None


# Frozen


def frozen_for(mail: MailFiles, name: str, begun: float | None, ended: float | None, **more: str) -> None:
    """Let an agent be frozen from and until some hours ago, and live again; None where the roster tells no time."""
    lines: list[tuple[str, float | None]] = [("living", 200.0), ("frozen", begun), ("living", ended)]
    for status, ago in lines:
        times = {} if ago is None else {"updated": iso(NOW - ago * HOUR)}
        mail.agent(name, status, **more, **times)


def test_frozen_time_does_not_count_also_after_it(mail: MailFiles, folded: Folded) -> None:
    frozen_for(mail, ANN, 29.0, 5.0)
    mail.message("m", BOB, ANN, ago=30 * HOUR)
    mail.message("over", BOB, ANN, ago=50 * HOUR)
    mail.message("since", BOB, ANN, ago=40 * HOUR, ttl_hours=13)
    mail.message("before", BOB, ANN, ago=60 * HOUR, ttl_hours=1)
    mailbox = folded(mail)
    assert states(mailbox) == {ANN: UNREAD}
    assert [(it.message.id, it.since) for it in mailbox.dead_letters(NOW)] == [
        ("over", NOW - 2 * HOUR),
        ("since", NOW - 3 * HOUR),  # 11 of 13 hours until it was frozen, the rest after it
        ("before", NOW - 59 * HOUR),
    ]


@pytest.mark.parametrize(("begun", "ended"), [(None, 5.0), (29.0, None), (None, None)])
def test_where_the_roster_does_not_tell_when_a_message_stays_unread(
    mail: MailFiles, folded: Folded, begun: float | None, ended: float | None
) -> None:
    frozen_for(mail, ANN, begun, ended)
    mail.message("m", BOB, ANN, ago=90 * HOUR, ttl_hours=70)
    mailbox = folded(mail)
    assert states(mailbox) == {ANN: UNREAD}
    message = mailbox.message("m")
    assert message is not None
    assert "was frozen at unknown times" in mailbox.states(message, NOW)[ANN].reason
    assert dead(mailbox) == []


def test_a_role_s_mail_loses_no_time_while_all_its_holders_are_frozen(mail: MailFiles, folded: Folded) -> None:
    frozen_for(mail, ANN, 29.0, 5.0, role="clerk")
    frozen_for(mail, BOB, 20.0, 10.0, role="clerk")
    mail.message("m", CID, "clerk", ago=30 * HOUR, ttl_hours=21)
    mail.message("over", CID, "clerk", ago=30 * HOUR, ttl_hours=19)
    mailbox = folded(mail)
    assert states(mailbox) == {"clerk": UNREAD}
    assert states(mailbox, "over") == {"clerk": EXPIRED}
    message = mailbox.message("over")
    assert message is not None
    assert mailbox.states(message, NOW)["clerk"].since == NOW - HOUR


def test_a_broadcast_waits_for_whom_it_met_frozen(mail: MailFiles, folded: Folded) -> None:
    frozen_for(mail, ANN, 30.0, 1.0)
    mail.message("m", BOB, "all", ago=20 * HOUR)
    assert states(folded(mail)) == {ANN: UNREAD}


# Whose mail it is


def test_a_holder_has_no_role_mail_from_before_its_time_or_after_its_death(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN, role="clerk", started_at=iso(NOW - 90 * HOUR))
    mail.agent(BOB, updated=iso(NOW - 90 * HOUR))
    mail.agent(BOB, role="clerk", updated=iso(NOW - 10 * HOUR))
    mail.agent(CID, "dead", role="clerk", ended_at=iso(NOW - 40 * HOUR))
    mail.message("over", "user", "clerk", ago=50 * HOUR, ttl_hours=1)
    mail.message("early", "user", "clerk", ago=30 * HOUR, ttl_hours=5)
    mail.message("lasting", "user", "clerk", ago=30 * HOUR)
    mailbox = folded(mail)
    assert ids(mailbox.inbox(ANN, NOW)) == ["over", "early", "lasting"]
    assert ids(mailbox.inbox(BOB, NOW)) == ["lasting"]
    assert ids(mailbox.inbox(CID, NOW)) == ["over"]
    assert ids(mailbox.inbox("clerk", NOW)) == ["over", "early", "lasting"]


def test_what_was_over_before_a_holder_took_a_frozen_role_is_not_its_own(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN, updated=iso(NOW - 90 * HOUR))
    mail.agent(ANN, role="clerk", updated=iso(NOW - 10 * HOUR))
    mail.agent(ANN, "frozen", role="clerk", updated=iso(NOW - 5 * HOUR))
    mail.message("over", "user", "clerk", ago=30 * HOUR, ttl_hours=5)
    mail.message("m", "user", "clerk", ago=30 * HOUR)
    mailbox = folded(mail)
    assert states(mailbox, "over") == {"clerk": FROZEN}
    assert ids(mailbox.unread(ANN, NOW)) == ["m"]


def test_whatever_somebody_read_or_was_delivered_is_in_its_mail(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN, tags=["project:ink"])
    mail.agent(ANN, updated=iso(NOW - HOUR))
    mail.agent(BOB, role="clerk", updated=iso(NOW - 60))
    mail.message("tag", "user", "project:ink")
    mail.read("tag", ANN)
    mail.message("told", "user", "project:ink")
    mail.delivery("told", ANN)
    mail.message("inline", "user", CID, read_by=[ANN])
    mail.message("sent", ANN, CID)
    mail.read("sent", ANN)
    mail.message("held", "user", "clerk", ago=9 * HOUR, ttl_hours=1)
    mail.read("held", BOB)
    mailbox = folded(mail)
    assert sorted(ids(mailbox.inbox(ANN, NOW))) == ["inline", "tag", "told"]
    assert ids(mailbox.inbox(BOB, NOW)) == ["held"]


# Archived


def test_archived_mail_keeps_its_last_state_and_dies_in_its_time(mail: MailFiles, folded: Folded) -> None:
    mail.agent(ANN, role="clerk")
    mail.agent(BOB, "frozen")
    for name, to, ago in (("m", ANN, 1), ("late", ANN, 30), ("role", "clerk", 1), ("ice", BOB, 1), ("void", "x", 1)):
        mail.message(name, "user", to, ago=ago * HOUR, archived=True)
    mailbox = folded(mail)
    found = {name: list(states(mailbox, name).values()) for name in ("m", "late", "role", "ice", "void")}
    assert found == {"m": [ARCHIVED], "late": [EXPIRED], "role": [ARCHIVED], "ice": [FROZEN], "void": [UNKNOWN]}
    assert dead(mailbox) == [("late", ANN), ("void", "x")]
    assert mailbox.unread(ANN, NOW) == []
    assert mailbox.inbox(ANN, NOW) == []


def test_an_undo_counts_whatever_it_says_of_the_message(mail: MailFiles, folded: Folded) -> None:
    mail.message("m", "user", "nobody")
    mail.intervention("acknowledge", "m", recipient="nobody")
    assert dead(folded(mail)) == []
    mail.line(
        {"id": "u", "actor": "user", "action": "undo", "details": {"undoes": "acknowledge-m"}, "timestamp": iso(NOW)},
        mail.data / "agent-mailbox-oversight.jsonl",
    )
    assert dead(folded(mail)) == [("m", "nobody")]


def test_what_somebody_read_is_found_among_many_too(
    mail: MailFiles, folded: Folded, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail.agent(ANN)
    for at in range(6):
        mail.message(f"m{at}", "user", "project:ink", ago=HOUR * (9 - at))
        for reader in (CID, ANN, BOB)[: at % 4]:
            mail.read(f"m{at}", reader)
    few = ids(folded(mail).inbox(ANN, NOW))
    monkeypatch.setattr("mailstore.columns.rows.MANY", 0)
    assert ids(folded(mail).inbox(ANN, NOW)) == few == ["m2", "m3"]
