"""Settling dead letters there and back: every cause, several recipients, what is refused, and what stops midway."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from mailstore.errors import DraftRefused, MailError
from mailstore.haak import HaakStore
from mailstore.queries.takeover import last_seen, redirected_before, takers
from mailstore.records.draft import Draft
from mailstore.records.message import Intervention, Message
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import DeadLetter
from mailstore.writing.settling import (
    NotSettled,
    Step,
    acknowledge,
    carry_out,
    overtaken,
    redirect,
    resend,
    undo,
    undoable,
)
from tests.mailboxes import NOW, MailFiles, iso

HOUR = 3600
DEAD = {"to-dead", "late", "nobody"}


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"], activity="binding")
    mail.agent("bob-00000001", tags=["project:ink", "domain:paper"])
    mail.agent("cid-00000001", role="scribe")
    mail.agent(
        "ded-00000001",
        "dead",
        role="scribe",
        tags=["project:ink", "domain:paper"],
        activity="leaf 12",
        ended_at=iso(NOW - 2 * HOUR),
    )
    mail.message("to-dead", "ann-00000001", "ded-00000001", "Leaf 12?", ago=9000, subject="A leaf", type="question")
    mail.message("late", "ann-00000001", "bob-00000001", "Soon?", ago=48 * HOUR, subject="Late")
    mail.message("nobody", "ann-00000001", "bob-0000001", "You?", ago=600, subject="A slip")
    return mail


class Desk:
    """A person with a mailbox open: reads it anew after each deed."""

    def __init__(self, mail: MailFiles) -> None:
        self.store = HaakStore.open(mail.data)
        self.mail = mail

    @property
    def mailbox(self) -> Mailbox:
        mailbox = Mailbox()
        with HaakStore.open(self.mail.data) as store:
            for batch in store.scan():
                mailbox.fold(batch, NOW)
        return mailbox

    def message(self, message_id: str) -> DeadLetter:
        return next(it for it in self.mailbox.dead_letters(NOW) if it.message.id == message_id)

    def dead(self) -> set[str]:
        return {it.message.id for it in self.mailbox.dead_letters(NOW)}

    def write(self, steps: list[Step]) -> list[Message | None]:
        done, error = carry_out(self.store, steps, clock=lambda: NOW)
        assert error is None
        return [it.sent for it in done]


@pytest.fixture
def desk(mail: MailFiles) -> Desk:
    return Desk(mail)


def test_earlier_redirects_of_a_recipients_mail_are_known(desk: Desk) -> None:
    for number, to in enumerate(("cid-00000001", "bob-00000001", "cid-00000001", "ded-00000002", "clerk")):
        desk.mail.message(f"sent-{number}", "user", to, "Leaf", ago=100)
        desk.mail.intervention("redirect", f"leaf-{number}", recipient="ded-00000001", sent=f"sent-{number}")
    desk.mail.agent("ded-00000002", "dead", ended_at=iso(NOW))
    desk.mail.intervention("redirect", "late", recipient="bob-00000001", sent="sent-4")
    desk.mail.intervention("redirect", "to-dead", recipient="ded-00000001", sent="absent")
    assert redirected_before(desk.mailbox, "ded-00000001") == {"cid-00000001": 2, "bob-00000001": 1, "clerk": 1}
    last = next(it for it in desk.mailbox.interventions() if it.details.get("sent") == "sent-1")
    desk.mail.intervention("undo", "to-dead", undoes=last.id)
    assert redirected_before(desk.mailbox, "ded-00000001") == {"cid-00000001": 2, "clerk": 1}


def test_who_could_take_a_message_over(desk: Desk) -> None:
    assert takers(desk.mailbox, desk.message("to-dead")) == ["cid-00000001", "bob-00000001"]
    assert takers(desk.mailbox, desk.message("late")) == []
    gone = desk.mailbox.roster.get("cid-00000001")
    assert gone is not None
    desk.mail.agent("eve-00000001", "frozen", role=gone.role, tags=list(gone.tags))
    assert takers(desk.mailbox, desk.message("to-dead"))[2:] == ["eve-00000001"], "a frozen one after the living"
    assert takers(desk.mailbox, desk.message("nobody"))[0] == "bob-00000001"


def test_what_the_recipient_was_doing(desk: Desk) -> None:
    seen = last_seen(desk.mailbox, "ded-00000001")
    assert (seen.role, seen.activity, seen.time) == ("scribe", "leaf 12", NOW - 2 * HOUR)
    assert last_seen(desk.mailbox, "bob-0000001").status is None


def test_a_redirected_message_answers_the_old_one_and_is_dead_no_more(desk: Desk) -> None:
    before = desk.mail.mailbox.read_bytes()
    steps = redirect(desk.mailbox, [desk.message("to-dead")], "scribe", NOW, read_body=desk.store.content)
    assert desk.mail.mailbox.read_bytes() == before
    assert steps[0].words == "redirect “A leaf” to scribe"
    (sent,) = desk.write(steps)
    assert desk.mail.mailbox.read_bytes().startswith(before)
    assert sent is not None
    assert (sent.thread, sent.recipients, sent.subject, sent.type) == ("to-dead", ("scribe",), "A leaf", "question")
    text = desk.store.content(sent)
    assert text.endswith("\n\nLeaf 12?")
    assert "ann-00000001 wrote this to ded-00000001" in text
    assert desk.dead() == {"late", "nobody"}
    (record,) = desk.mailbox.interventions()
    assert record.details == {"recipient": "ded-00000001", "to": ["scribe"], "sent": sent.id}


def test_a_message_is_sent_again_with_a_life_of_its_own(desk: Desk) -> None:
    (sent,) = desk.write(resend(desk.mailbox, [desk.message("late")], 5, NOW, read_body=desk.store.content))
    assert sent is not None
    assert (sent.recipients, sent.ttl_hours) == (("bob-00000001",), 5)
    assert desk.dead() == {"to-dead", "nobody"}


@pytest.mark.parametrize(("message_id", "why"), [("to-dead", "is dead"), ("nobody", "no agent by the name")])
def test_only_who_is_there_is_written_to_again(desk: Desk, message_id: str, why: str) -> None:
    with pytest.raises(NotSettled, match=why):
        resend(desk.mailbox, [desk.message(message_id)], None, NOW, read_body=desk.store.content)


def test_a_message_is_not_redirected_to_whom_it_was_for_nor_to_no_address(desk: Desk) -> None:
    for to, error in (("ded-00000001", NotSettled), ("#nothing", DraftRefused), ("", DraftRefused)):
        with pytest.raises(error):
            redirect(desk.mailbox, [desk.message("to-dead")], to, NOW, read_body=desk.store.content)


@pytest.mark.parametrize(("to", "why"), [("fay-00000001", "is dead"), ("scrbie", "no agent by the name")])
def test_a_message_is_not_redirected_to_be_dead_again(to: str, why: str, desk: Desk) -> None:
    desk.mail.agent("fay-00000001", "dead", ended_at=iso(NOW - HOUR))
    with pytest.raises(NotSettled, match=why):
        redirect(desk.mailbox, [desk.message("to-dead")], to, NOW, read_body=desk.store.content)


def test_what_was_dead_for_several_goes_to_one_taker_once_and_is_taken_back_once(desk: Desk) -> None:
    desk.mail.agent("fay-00000001", "dead", ended_at=iso(NOW - HOUR))
    desk.mail.message("both", "ann-00000001", ["ded-00000001", "fay-00000001"], "Leaf 13?", ago=9000)
    messages = [it for it in desk.mailbox.dead_letters(NOW) if it.message.id == "both"]
    assert len(messages) == 2
    one, other = desk.write(redirect(desk.mailbox, messages, "scribe", NOW, read_body=desk.store.content))
    assert one is not None
    assert one == other
    assert "both" not in desk.dead()
    before = len(desk.mailbox.messages())
    desk.write([step for deed in undoable(desk.mailbox) for step in undo(desk.mailbox, deed, NOW)])
    assert len(desk.mailbox.messages()) == before + 1
    assert "both" in desk.dead()


def test_a_plan_that_somebody_overtook_is_told(desk: Desk) -> None:
    steps = acknowledge([desk.message("late"), desk.message("nobody")])
    assert not overtaken(desk.mailbox, steps, NOW)
    desk.write(acknowledge([desk.message("late")]))
    assert overtaken(desk.mailbox, steps, NOW)


def test_several_are_acknowledged_with_a_note(desk: Desk) -> None:
    desk.write(acknowledge([desk.message("late"), desk.message("nobody")], "too late by now"))
    assert desk.dead() == {"to-dead"}
    assert {it.note for it in desk.mailbox.interventions()} == {"too late by now"}


def test_what_was_done_is_undone_the_newest_first_and_the_messages_are_dead_again(desk: Desk) -> None:
    desk.write(acknowledge([desk.message("late")]))
    (sent,) = desk.write(
        redirect(desk.mailbox, [desk.message("to-dead")], "bob-00000001", NOW + 1, read_body=desk.store.content)
    )
    assert sent is not None
    deed = next(it for it in undoable(desk.mailbox) if it.action == "redirect")
    (void,) = desk.write(undo(desk.mailbox, deed, NOW))
    assert void is not None
    assert (void.type, void.thread, void.recipients) == ("cancel", sent.id, ("bob-00000001",))
    assert desk.dead() == {"to-dead", "nobody"}
    assert [it.action for it in undoable(desk.mailbox)] == ["acknowledge"]
    with pytest.raises(NotSettled, match="undone before"):
        undo(desk.mailbox, deed, NOW)
    desk.write(undo(desk.mailbox, undoable(desk.mailbox)[0], NOW))
    assert desk.dead() == {"to-dead", "nobody", "late"}
    assert undoable(desk.mailbox) == []
    desk.write(acknowledge([desk.message("late")]))
    assert desk.dead() == {"to-dead", "nobody"}


def test_the_order_of_the_records_does_not_matter(desk: Desk) -> None:
    message = desk.message("late").message
    records = [
        Intervention("a", "user", "acknowledge", NOW, "late", details={"recipient": "bob-00000001"}),
        Intervention("b", "user", "undo", NOW, "late", details={"undoes": "a", "recipient": "bob-00000001"}),
    ]
    agents = list(desk.mailbox.roster)
    for order in permutations([message, *records]):
        mailbox = Mailbox()
        mailbox.fold([*agents, *order], NOW)
        assert [(it.message.id, it.state) for it in mailbox.dead_letters(NOW)] == [("late", State.EXPIRED)]
        assert mailbox.is_undone("a")


def test_a_disk_that_refuses_stops_the_rest_and_says_what_was_written(desk: Desk) -> None:
    steps = [*acknowledge([desk.message("late")]), *acknowledge([desk.message("nobody")])]
    journal = desk.mail.data / "agent-mailbox-oversight.jsonl"
    record = desk.store.record
    calls = iter([record])

    class Full(HaakStore):
        def write_intervention(self, intervention: Intervention) -> None:
            write = next(calls, None)
            if write is None:
                raise MailError("the disk is full", "make room")
            write(intervention)

    with Full.open(desk.mail.data) as store:
        done, error = carry_out(store, steps, clock=lambda: NOW)
    assert len(done) == 1
    assert "the disk is full" in str(error)
    assert [json.loads(line)["message_id"] for line in journal.read_bytes().splitlines()] == ["late"]


def test_a_message_that_went_out_without_its_record_is_told(desk: Desk) -> None:
    class Full(HaakStore):
        def write_intervention(self, intervention: Intervention) -> None:
            raise MailError("the disk is full", "make room")

    steps = redirect(desk.mailbox, [desk.message("late")], "cid-00000001", NOW, read_body=desk.store.content)
    with Full.open(desk.mail.data) as store:
        done, error = carry_out(store, steps, clock=lambda: NOW)
    assert error is not None
    assert [(it.intervention, it.sent is not None) for it in done] == [(None, True)]


def test_a_message_is_not_sent_on_to_who_sends_it_on(desk: Desk) -> None:
    with pytest.raises(NotSettled, match="yourself"):
        redirect(desk.mailbox, [desk.message("late")], "user", NOW, read_body=desk.store.content)


def test_an_undo_that_names_the_record_alone_takes_it_back_in_any_order(mail: MailFiles) -> None:
    deeds = [
        Intervention("deed", "user", "acknowledge", NOW, "late", details={"recipient": "bob-00000001"}),
        Intervention("undone", "user", "undo", NOW, details={"undoes": "deed"}),
    ]
    for order in permutations(deeds):
        mailbox = Desk(mail).mailbox
        mailbox.fold(order[:1], NOW)
        mailbox.fold(order[1:], NOW)
        assert "late" in {it.message.id for it in mailbox.dead_letters(NOW)}


@pytest.fixture
def plain_desk(tmp_path: Path) -> Desk:
    mail = MailFiles(tmp_path)
    for name in ("ann-00000001", "bob-00000001", "cid-00000001"):
        mail.agent(name)
    for name in ("ded-00000001", "eve-00000001"):
        mail.agent(name, "dead", ended_at=iso(NOW - HOUR))
    mail.message("to-dead", "ann-00000001", "ded-00000001", "Leaf 12?", ago=9000, subject="A leaf")
    mail.message("late", "ann-00000001", "bob-00000001", "Soon?", ago=48 * HOUR, subject="Late")
    mail.message("nobody", "ann-00000001", "bob-0000001", "You?", ago=600, subject="A slip")
    return Desk(mail)


@pytest.mark.parametrize("message_id", sorted(DEAD))
def test_whatever_the_cause_a_message_is_redirected_and_dead_again_when_that_is_undone(
    message_id: str, plain_desk: Desk
) -> None:
    before = plain_desk.mail.mailbox.read_bytes()
    (sent,) = plain_desk.write(
        redirect(
            plain_desk.mailbox,
            [plain_desk.message(message_id)],
            "cid-00000001",
            NOW,
            read_body=plain_desk.store.content,
        )
    )
    assert sent is not None
    assert message_id not in plain_desk.dead()
    (void,) = plain_desk.write(undo(plain_desk.mailbox, undoable(plain_desk.mailbox)[0], NOW))
    assert void is not None
    assert (void.type, void.thread, void.recipients) == ("cancel", sent.id, ("cid-00000001",))
    assert plain_desk.dead() == DEAD
    assert plain_desk.mail.mailbox.read_bytes().startswith(before)
    assert not plain_desk.mail.reads.exists()


@pytest.mark.parametrize("message_id", sorted(DEAD))
def test_whatever_the_cause_a_message_is_acknowledged_by_a_record_alone(message_id: str, plain_desk: Desk) -> None:
    before = {path.name: path.read_bytes() for path in plain_desk.mail.data.iterdir()}
    plain_desk.write(acknowledge([plain_desk.message(message_id)]))
    assert plain_desk.dead() == DEAD - {message_id}
    after = {path.name: path.read_bytes() for path in plain_desk.mail.data.iterdir()}
    (line,) = after.pop("agent-mailbox-oversight.jsonl").splitlines()
    assert {name: after[name] for name in before} == before
    record = json.loads(line)
    assert (record["actor"], record["action"], record["message_id"]) == ("user", "acknowledge", message_id)
    assert "sent" not in record["details"]


def test_who_got_a_message_again_is_told_that_it_is_void_and_can_be_sent_it_anew(plain_desk: Desk) -> None:
    def again() -> Message | None:
        (sent,) = plain_desk.write(
            resend(plain_desk.mailbox, [plain_desk.message("late")], 5, NOW, read_body=plain_desk.store.content)
        )
        return sent

    first = again()
    assert first is not None
    (record,) = plain_desk.mailbox.interventions()
    assert record.details == {
        "recipient": "bob-00000001",
        "to": ["bob-00000001"],
        "ttl_hours": 5,
        "sent": first.id,
    }
    (void,) = plain_desk.write(undo(plain_desk.mailbox, record, NOW))
    assert void is not None
    assert (void.type, void.thread, void.recipients) == ("cancel", first.id, ("bob-00000001",))
    assert "late" in plain_desk.dead()
    second = again()
    assert second is not None
    assert second.id != first.id
    assert "late" not in plain_desk.dead()
    assert [it.details["sent"] for it in undoable(plain_desk.mailbox)] == [second.id]


def test_a_message_that_is_dead_for_two_is_settled_for_each_alone(plain_desk: Desk) -> None:
    plain_desk.mail.message("two", "ann-00000001", ["ded-00000001", "eve-00000001"], ago=9000)

    def dead_for() -> set[str]:
        return {it.recipient for it in plain_desk.mailbox.dead_letters(NOW) if it.message.id == "two"}

    for_eve = next(it for it in plain_desk.mailbox.dead_letters(NOW) if it.recipient == "eve-00000001")
    plain_desk.write(acknowledge([for_eve]))
    assert dead_for() == {"ded-00000001"}
    plain_desk.write(acknowledge([plain_desk.message("two")]))
    assert dead_for() == set()
    deed = next(it for it in undoable(plain_desk.mailbox) if it.details["recipient"] == "eve-00000001")
    plain_desk.write(undo(plain_desk.mailbox, deed, NOW))
    assert dead_for() == {"eve-00000001"}


def test_who_could_read_it_is_offered_a_message_and_a_frozen_holder_of_the_role_last_but_not_its_sender(
    tmp_path: Path,
) -> None:
    mail = MailFiles(tmp_path)
    shared = ["project:ink", "domain:paper", "concern:rules"]
    mail.agent("ded-00000001", "dead", role="scribe", tags=shared, ended_at=iso(NOW - HOUR))
    mail.agent("one-00000001", tags=shared[:1])
    mail.agent("all-00000001", tags=shared)
    mail.agent("two-00000001", tags=shared[:2])
    mail.agent("rol-00000001", tags=["role:scribe"])
    mail.agent("fro-00000001", "frozen", role="scribe", tags=shared)
    mail.agent("fri-00000001", "frozen", tags=shared)
    mail.agent("old-00000001", "dead", role="scribe", tags=shared, ended_at=iso(NOW - HOUR))
    mail.agent("odd-00000001", role="clerk", tags=["project:other"])
    mail.agent("ann-00000001", role="scribe", tags=shared)
    mail.message("letter", "ann-00000001", "ded-00000001", ago=7200)
    plain_desk = Desk(mail)
    assert takers(plain_desk.mailbox, plain_desk.message("letter")) == [
        "rol-00000001",
        "all-00000001",
        "two-00000001",
        "one-00000001",
        "fro-00000001",
    ]


def test_a_message_that_is_refused_midway_leaves_the_first_message_settled_whole(plain_desk: Desk) -> None:
    class Busy(HaakStore):
        sends = 0

        def write_message(self, draft: Draft) -> Message:
            self.sends += 1
            if self.sends == 2:
                raise MailError("the mailbox is busy", "try again")
            return super().write_message(draft)

    messages = [plain_desk.message("late"), plain_desk.message("nobody"), plain_desk.message("to-dead")]
    steps = redirect(plain_desk.mailbox, messages, "cid-00000001", NOW, read_body=plain_desk.store.content)
    with Busy.open(plain_desk.mail.data) as store:
        done, error = carry_out(store, steps, clock=lambda: NOW)
    assert "is busy" in str(error)
    assert [(it.step.message_id, it.sent is not None) for it in done] == [("late", True)]
    assert plain_desk.dead() == {"nobody", "to-dead"}
    assert [it.message_id for it in plain_desk.mailbox.interventions()] == ["late"]
    assert len([it for it in plain_desk.mailbox.messages() if it.sender == "user"]) == 1


class Killed(HaakStore):
    """A mailbox whose console ends suddenly before the journal is written."""

    def write_intervention(self, intervention: Intervention) -> None:
        raise MailError("killed")


def void(plain_desk: Desk) -> list[Step]:
    return undo(plain_desk.mailbox, undoable(plain_desk.mailbox)[0], NOW)


def again(plain_desk: Desk) -> list[Step]:
    return resend(plain_desk.mailbox, [plain_desk.message("late")], 5, NOW, read_body=plain_desk.store.content)


def test_what_went_out_and_was_not_recorded_does_not_go_out_twice(plain_desk: Desk) -> None:
    numbers = []
    for plan in (again, void, again):
        with Killed.open(plain_desk.mail.data) as store:
            assert carry_out(store, plan(plain_desk), clock=lambda: NOW)[1] is not None
        numbers.append(len(plain_desk.mailbox.messages()))
        (step,) = plan(plain_desk)
        assert step.sent is not None
        assert plain_desk.write([step]) == [step.sent]
        assert len(plain_desk.mailbox.messages()) == numbers[-1]
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2], "after it was taken back it goes out anew"
