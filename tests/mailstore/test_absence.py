"""What happened while the user was away: counted from the mailbox, in steps, by times alone."""

from __future__ import annotations

from pathlib import Path

from mailstore.haak import HaakStore
from mailstore.queries.absence import Absence, LostMessage, look_back
from mailstore.records.events import Seen
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, at_once
from tests.mailboxes import HOUR, NOW, MailFiles, iso


def folded(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


def absence(mailbox: Mailbox, hours: float) -> Absence:
    *_, found = at_once(look_back(mailbox, NOW - hours * HOUR, NOW))
    return found


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", started_at=iso(NOW - 90 * HOUR))
    mail.agent("new-00000001", started_at=iso(NOW - HOUR))
    mail.agent("old-00000001", "dead", ended_at=iso(NOW - 50 * HOUR))
    mail.agent("ded-00000001", "dead", ended_at=iso(NOW - 2 * HOUR))
    mail.message("before", "ann-00000001", "user", "Long ago.", ago=30 * 3600, subject="Before")
    mail.message("again", "ann-00000001", "user", "Again.", ago=7000, thread="before")
    mail.message("ask", "ann-00000001", "new-00000001", "Where?", ago=3000, subject="Where", type="question")
    mail.message("mine", "user", "ann-00000001", "Mine.", ago=2500)
    mail.message("lost", "ann-00000001", "ded-00000001", "There?", ago=9000, subject="Lost")
    for number in range(3):
        mail.message(f"more-{number}", "ann-00000001", "new-00000001", "More.", ago=900 - number, thread="ask")
    mail.message("late", "ann-00000001", "user", "Tomorrow.", ago=-HOUR)
    return mail


def test_what_happened_between_two_times_is_found(tmp_path: Path) -> None:
    mailbox = folded(write_mail(tmp_path))
    found = absence(mailbox, 10)
    assert (found.messages, found.threads) == (6, 3)
    assert found.for_you == ("again",)
    assert found.questions == ("ask",)
    assert found.dead_letters == (LostMessage("lost", "ded-00000001"),)
    assert (found.ended, found.appeared) == (("ded-00000001",), ("new-00000001",))
    assert found.busiest[0] == ("ask", 4)
    assert set(found.busiest[1:]) == {("before", 1), ("lost", 1)}
    assert not found.is_empty
    mailbox.fold([Seen("again")], NOW)
    assert absence(mailbox, 10).for_you == ()
    assert absence(mailbox, 100).ended == ("old-00000001", "ded-00000001")


def test_nothing_happened_where_only_the_user_wrote(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("old", "ann-00000001", "user", "Before.", ago=9000)
    mail.message("mine", "user", "ann-00000001", "Mine.", ago=60)
    mailbox = folded(mail)
    assert absence(mailbox, 1).is_empty
    assert absence(Mailbox(), 1).is_empty


def test_no_step_takes_more_than_one_message(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    for number in range(200):
        mail.message(f"n-{number}", "ann-00000001", "all", "News.", ago=100 + number, type="question")
    steps = []
    for step in look_back(folded(mail), NOW - HOUR, NOW):
        if isinstance(step, BackgroundWork):
            step.do()
        steps.append(step)
    assert len(steps) > 400
    assert [isinstance(step, Absence) for step in steps].count(True) == 1
