"""Settling dead letters there and back: every cause, several recipients, and what stops midway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mailstore.errors import MailError
from mailstore.haak import HaakStore
from mailstore.queries.takeover import takers
from mailstore.records.draft import Draft
from mailstore.records.message import Intervention, Message
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import DeadLetter
from mailstore.writing.settling import Step, acknowledge, carry_out, redirect, resend, undo, undoable
from tests.mailboxes import NOW, MailFiles, iso

HOUR = 3600
DEAD = {"to-dead", "late", "nobody"}


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
def desk(tmp_path: Path) -> Desk:
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
    message_id: str, desk: Desk
) -> None:
    before = desk.mail.mailbox.read_bytes()
    (sent,) = desk.write(
        redirect(desk.mailbox, [desk.message(message_id)], "cid-00000001", NOW, read_body=desk.store.content)
    )
    assert sent is not None
    assert message_id not in desk.dead()
    (void,) = desk.write(undo(desk.mailbox, undoable(desk.mailbox)[0], NOW))
    assert void is not None
    assert (void.type, void.thread, void.recipients) == ("cancel", sent.id, ("cid-00000001",))
    assert desk.dead() == DEAD
    assert desk.mail.mailbox.read_bytes().startswith(before)
    assert not desk.mail.reads.exists()


@pytest.mark.parametrize("message_id", sorted(DEAD))
def test_whatever_the_cause_a_message_is_acknowledged_by_a_record_alone(message_id: str, desk: Desk) -> None:
    before = {path.name: path.read_bytes() for path in desk.mail.data.iterdir()}
    desk.write(acknowledge([desk.message(message_id)]))
    assert desk.dead() == DEAD - {message_id}
    after = {path.name: path.read_bytes() for path in desk.mail.data.iterdir()}
    (line,) = after.pop("agent-mailbox-oversight.jsonl").splitlines()
    assert {name: after[name] for name in before} == before
    record = json.loads(line)
    assert (record["actor"], record["action"], record["message_id"]) == ("user", "acknowledge", message_id)
    assert "sent" not in record["details"]


def test_who_got_a_message_again_is_told_that_it_is_void_and_can_be_sent_it_anew(desk: Desk) -> None:
    def again() -> Message | None:
        (sent,) = desk.write(resend(desk.mailbox, [desk.message("late")], 5, NOW, read_body=desk.store.content))
        return sent

    first = again()
    assert first is not None
    (record,) = desk.mailbox.interventions()
    assert record.details == {
        "recipient": "bob-00000001",
        "to": ["bob-00000001"],
        "ttl_hours": 5,
        "sent": first.id,
    }
    (void,) = desk.write(undo(desk.mailbox, record, NOW))
    assert void is not None
    assert (void.type, void.thread, void.recipients) == ("cancel", first.id, ("bob-00000001",))
    assert "late" in desk.dead()
    second = again()
    assert second is not None
    assert second.id != first.id
    assert "late" not in desk.dead()
    assert [it.details["sent"] for it in undoable(desk.mailbox)] == [second.id]


def test_a_message_that_is_dead_for_two_is_settled_for_each_alone(desk: Desk) -> None:
    desk.mail.message("two", "ann-00000001", ["ded-00000001", "eve-00000001"], ago=9000)

    def dead_for() -> set[str]:
        return {it.recipient for it in desk.mailbox.dead_letters(NOW) if it.message.id == "two"}

    for_eve = next(it for it in desk.mailbox.dead_letters(NOW) if it.recipient == "eve-00000001")
    desk.write(acknowledge([for_eve]))
    assert dead_for() == {"ded-00000001"}
    desk.write(acknowledge([desk.message("two")]))
    assert dead_for() == set()
    deed = next(it for it in undoable(desk.mailbox) if it.details["recipient"] == "eve-00000001")
    desk.write(undo(desk.mailbox, deed, NOW))
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
    desk = Desk(mail)
    assert takers(desk.mailbox, desk.message("letter")) == [
        "rol-00000001",
        "all-00000001",
        "two-00000001",
        "one-00000001",
        "fro-00000001",
    ]


def test_a_message_that_is_refused_midway_leaves_the_first_message_settled_whole(desk: Desk) -> None:
    class Busy(HaakStore):
        sends = 0

        def write_message(self, draft: Draft) -> Message:
            self.sends += 1
            if self.sends == 2:
                raise MailError("the mailbox is busy", "try again")
            return super().write_message(draft)

    messages = [desk.message("late"), desk.message("nobody"), desk.message("to-dead")]
    steps = redirect(desk.mailbox, messages, "cid-00000001", NOW, read_body=desk.store.content)
    with Busy.open(desk.mail.data) as store:
        done, error = carry_out(store, steps, clock=lambda: NOW)
    assert "is busy" in str(error)
    assert [(it.step.message_id, it.sent is not None) for it in done] == [("late", True)]
    assert desk.dead() == {"nobody", "to-dead"}
    assert [it.message_id for it in desk.mailbox.interventions()] == ["late"]
    assert len([it for it in desk.mailbox.messages() if it.sender == "user"]) == 1


class Killed(HaakStore):
    """A mailbox whose console ends suddenly before the journal is written."""

    def write_intervention(self, intervention: Intervention) -> None:
        raise MailError("killed")


def void(desk: Desk) -> list[Step]:
    return undo(desk.mailbox, undoable(desk.mailbox)[0], NOW)


def again(desk: Desk) -> list[Step]:
    return resend(desk.mailbox, [desk.message("late")], 5, NOW, read_body=desk.store.content)


def test_what_went_out_and_was_not_recorded_does_not_go_out_twice(desk: Desk) -> None:
    numbers = []
    for plan in (again, void, again):
        with Killed.open(desk.mail.data) as store:
            assert carry_out(store, plan(desk), clock=lambda: NOW)[1] is not None
        numbers.append(len(desk.mailbox.messages()))
        (step,) = plan(desk)
        assert step.sent is not None
        assert desk.write([step]) == [step.sent]
        assert len(desk.mailbox.messages()) == numbers[-1]
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2], "after it was taken back it goes out anew"
