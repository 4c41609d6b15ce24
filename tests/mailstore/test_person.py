"""One person under every name that a record uses; and mail that a recipient put away itself."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from mailstore import folding
from mailstore.folding import fold_store
from mailstore.haak import HaakStore
from mailstore.queries.timeline import timeline
from mailstore.records.events import Mailboxes, Person, PutAway
from mailstore.records.scope import Scope
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.past import mailbox_at
from mailstore.state.views import View
from tests.mailboxes import HOUR, NOW, MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"
NAMES = ["user", "human", "person:me", "person:tobi"]


@pytest.fixture(params=[True, False], ids=["at once", "one by one"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr("mailstore.haak.store.LONG", 0)
        monkeypatch.setattr("mailstore.bulk.build.FEWEST", 1)


def folded(mail: MailFiles, user: str = "user") -> Mailbox:
    with HaakStore.open(mail.data) as store:
        return fold_store(store, user, NOW)


@pytest.mark.parametrize("reader", NAMES)
def test_the_person_has_read_under_whichever_name(tmp_path: Path, reader: str) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    for at, address in enumerate(NAMES):
        mail.message(f"to-{at}", ANN, address)
        mail.read(f"to-{at}", reader, ago=60)
    mail.message("inline", ANN, "user", read_by=[reader])
    mail.message("unread", ANN, "human")
    mailbox = folded(mail)
    for message in mailbox.messages():
        expected = State.UNREAD if message.id == "unread" else State.READ
        assert mailbox.bare_states(message, NOW) == {"user": expected}
    for name in NAMES:
        assert [message.id for message in mailbox.unread(name, NOW)] == ["unread"]
        assert mailbox.unread_count(name) == 1
        assert len(mailbox.inbox(name, NOW)) == 6
    # what is displayed is what the file says, but for the user, who has one name
    assert [receipt.reader for receipt in mailbox.receipts("to-0")] == [reader]
    message = mailbox.message("to-0")
    assert message is not None
    assert [it.who for it in timeline(mailbox, message, NOW) if it.what == "read"] == ["user"]
    assert not any(it.what == "read for" for it in timeline(mailbox, message, NOW))


def test_what_the_person_sent_is_its_own_under_whichever_name(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, tags=["project:ink"])
    for name in NAMES:
        mail.message(name, name, "project:ink", "Dear @user and @human.")
    mailbox = folded(mail)
    assert mailbox.counts().unseen == 0
    assert mailbox.counts().for_you == 0
    for message in mailbox.messages():
        assert mailbox.bare_states(message, NOW) == {ANN: State.UNREAD}
        assert mailbox.is_own(message)
        assert not mailbox.is_mine(message)


def test_a_delivery_record_names_the_person_by_any_name(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, tags=["project:ink"])
    mail.message("m", ANN, "project:ink")
    mail.delivery("m", "human")
    mailbox = folded(mail)
    message = mailbox.message("m")
    assert message is not None
    assert mailbox.bare_states(message, NOW) == {"user": State.UNREAD}
    assert [it.id for it in mailbox.inbox("user", NOW)] == ["m"]


def of_tobiu(tmp_path: Path) -> tuple[MailFiles, Mailbox]:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("to", ANN, "@tobiu", ago=30 * HOUR)
    mail.message("read", ANN, "@tobiu")
    mail.read("read", "@tobiu")
    mail.message("from", "@tobiu", ANN)
    return mail, folded(mail)


def test_a_system_may_have_names_of_its_own_for_the_person(tmp_path: Path) -> None:
    mailbox = of_tobiu(tmp_path)[1]
    assert len(mailbox.dead_letters(NOW)) == 1
    mailbox.fold([Person(("@tobiu",))], NOW)
    assert mailbox.dead_letters(NOW) == []
    assert [message.id for message in mailbox.unread("@tobiu", NOW)] == ["to"]
    assert [message.id for message in mailbox.unread("user", NOW)] == ["to"]
    assert mailbox.counts().unseen == 2
    assert sorted(mailbox.threads(View("for-you"))) == ["read", "to"]
    sent = mailbox.message("from")
    assert sent is not None
    assert sent.sender == "@tobiu"
    past = mailbox_at(mailbox, NOW)
    assert [message.id for message in past.unread("user", NOW)] == ["to"]
    file = io.BytesIO()
    folding.save(mailbox, b"", file)
    file.seek(0)
    kept = folding.load(file, "user")[0]
    assert [message.id for message in kept.unread("@tobiu", NOW)] == ["to"]


def test_of_several_mailboxes_each_has_its_names_for_the_person() -> None:
    assert Scope("lab").event(Person(("@tobiu",))) == Person(("lab/@tobiu",))
    assert Scope("lab").event(PutAway("m", "ann", 3.0)) == PutAway("lab/m", "lab/ann", 3.0)


def test_the_past_knows_the_mailboxes_that_stand_side_by_side(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("lab/ann")
    mail.message("m", "lab/bob", "lab/all")
    mailbox = folded(mail)
    mailbox.fold([Mailboxes(("lab",))], NOW)
    past = mailbox_at(mailbox, NOW)
    message = past.message("m")
    assert message is not None
    assert past.bare_states(message, NOW) == {"lab/ann": State.UNREAD}


def test_what_a_recipient_put_away_is_archived_for_it_alone(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.agent(BOB)
    mail.message("m", "user", "all")
    mail.message("read", "user", ANN)
    mail.read("read", ANN)
    mail.message("old", "user", ANN, ago=30 * HOUR)
    mailbox = folded(mail)
    assert mailbox.counts().dead == 1
    records = [PutAway("m", ANN, NOW - 60), PutAway("read", ANN), PutAway("old", ANN)]
    mailbox.fold(records, NOW)
    file = io.BytesIO()
    folding.save(mailbox, b"", file)
    file.seek(0)
    before = Mailbox()
    before.fold([*records, *mailbox.roster, *mailbox.messages()], NOW)
    for each in (mailbox, folding.load(file, "user")[0], before, mailbox_at(mailbox, NOW)):
        states = {it.id: each.bare_states(it, NOW) for it in each.messages()}
        assert states["m"] == {ANN: State.ARCHIVED, BOB: State.UNREAD}
        assert states["old"] == {ANN: State.ARCHIVED}
        assert each.unread(BOB, NOW) != []
        assert each.counts().dead == 0
        if each is not before:
            assert states["read"] == {ANN: State.READ}
            assert each.unread(ANN, NOW) == []
    past = mailbox_at(mailbox, NOW - 120)
    message = past.message("m")
    assert message is not None
    assert past.bare_states(message, NOW - 120) == {ANN: State.UNREAD, BOB: State.UNREAD}


def test_archived_mail_is_not_unread(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.message("m", "user", ANN, archived=True)
    mail.message("late", "user", ANN, ago=30 * HOUR, archived=True)
    mailbox = folded(mail)
    states = {it.id: mailbox.bare_states(it, NOW) for it in mailbox.messages()}
    assert states == {"m": {ANN: State.ARCHIVED}, "late": {ANN: State.EXPIRED}}
