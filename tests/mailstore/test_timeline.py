"""A message's life, moment by moment, from mailbox files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.folding import fold_store
from mailstore.haak import HaakStore
from mailstore.queries.timeline import Moment, timeline
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import NOW, MailFiles, iso, tangled

ANN, BOB, DED, FRO = "ann-00000001", "bob-00000001", "ded-00000001", "fro-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, role="clerk", tags=["project:ink"])
    mail.agent(BOB, tags=["project:ink"])
    mail.agent(DED, "dead", ended_at=iso(NOW - 600))
    mail.agent(FRO, "frozen")
    return mail


def life(mail: MailFiles, message_id: str) -> list[tuple[str, str]]:
    return [(moment.what, moment.who) for moment in moments(mail, message_id)]


def moments(mail: MailFiles, message_id: str) -> list[Moment]:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    message = mailbox.message(message_id)
    assert message is not None
    return timeline(mailbox, message, NOW)


def test_what_was_sent_to_a_channel_is_delivered_and_read(mail: MailFiles) -> None:
    mail.message("m", "user", "project:ink", f"Look, @{FRO}.", ago=900)
    mail.delivery("m", BOB, ago=900)
    mail.read("m", BOB, ago=300)
    mail.message("a", BOB, "project:ink", "Seen.", ago=200, thread="m", subject="Re: it")
    assert life(mail, "m")[0] == ("sent", "user")
    assert life(mail, "m")[-1] == ("unread", ANN)
    assert sorted(life(mail, "m")) == sorted(
        [
            ("sent", "user"),
            ("addressed", "#ink"),
            ("mentioned", FRO),
            ("delivered", BOB),
            ("frozen", FRO),
            ("read", BOB),
            ("answered", BOB),
            ("unread", ANN),
        ]
    )


def test_a_message_that_died_and_was_redirected(mail: MailFiles) -> None:
    mail.message("m", ANN, DED, "Alive?", ago=900)
    mail.message("n", "user", BOB, "Alive?", ago=100, thread="m", subject="Again")
    mail.intervention("redirect", "m", ago=100, recipient=DED, sent="n")
    assert life(mail, "m") == [
        ("sent", ANN),
        ("addressed", DED),
        ("died", DED),
        ("answered", "user"),
        ("redirect", "user"),
    ]
    last = moments(mail, "n")[-2:]
    assert {(it.what, it.how) for it in last} >= {("redirect", f"for {DED}, sent by this action")}


@pytest.mark.parametrize(
    ("to", "ago", "what", "who"),
    [
        (BOB, 48 * 3600, "expired", BOB),
        ("nobody", 60, "unknown", "nobody"),
        (FRO, 60, "frozen", FRO),
        ("clerk", 60, "unread", "clerk"),
        ("user", 60, "unread", "user"),
    ],
)
def test_how_it_stands_with_a_recipient(to: str, ago: float, what: str, who: str, mail: MailFiles) -> None:
    mail.message("m", ANN if to != "clerk" else BOB, to, "Well?", ago=ago)
    assert (what, who) in life(mail, "m")


def test_times_that_nobody_knows_are_said_and_archiving_is_last(mail: MailFiles) -> None:
    mail.message("m", ANN, BOB, "Old.", ago=90 * 86400, archived=True)
    mail.message("n", ANN, BOB, "Read.", ago=50, read_by=[BOB])
    found = moments(mail, "m")
    assert (found[-1].what, found[-1].how) == ("archived", "agent-mailbox-archive/2025-12.jsonl")
    read = next(it for it in moments(mail, "n") if it.what == "read")
    assert (read.time, read.how) == (None, "time not recorded")


def test_every_name_of_the_user_is_the_one_that_states_show(mail: MailFiles) -> None:
    mail.message("m", "human", "person:lina", "Look, @human.", ago=900)
    mail.delivery("m", "human", ago=900)
    mail.read("m", "person:lina", ago=300)
    mail.message("a", "human", "user", "Seen.", ago=200, thread="m", subject="Re: it")
    journal = mail.data / "agent-mailbox-oversight.jsonl"
    mail.line({"id": "i", "actor": "human", "action": "acknowledge", "message_id": "m", "timestamp": iso(NOW)}, journal)
    found = moments(mail, "m")
    whats = {"sent", "addressed", "mentioned", "delivered", "read", "answered", "acknowledge"}
    assert {it.what for it in found} == whats
    assert {it.who for it in found if it.what != "addressed"} == {"user"}


def test_replies_are_those_that_name_the_message_in_rings_and_below_what_is_lost_too(tmp_path: Path) -> None:
    with HaakStore.open(tangled(tmp_path).data) as store:
        mailbox = fold_store(store, "user", NOW)
    replies = {message.id: [reply.id for reply in mailbox.replies(message)] for message in mailbox.messages()}
    assert replies == {
        "root": ["early", "late"],
        "early": ["deep"],
        "old-root": ["old-reply"],
        "ring-1": ["ring-2"],
        "ring-2": ["ring-3"],
        "ring-3": ["ring-1"],
        **{leaf: [] for leaf in ("late", "deep", "lost-child", "old-reply")},
    }
