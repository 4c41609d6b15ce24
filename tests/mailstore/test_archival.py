"""What may leave, what stays, and why."""

from __future__ import annotations

from pathlib import Path

from mailstore.haak import HaakStore
from mailstore.rules.archive_plan import ArchivePlan, Reason
from mailstore.state.mailbox import Mailbox
from mailstore.writing.archiving import plan_archive
from tests.mailboxes import HOUR, NOW, MailFiles, every_case

DAY = 24 * HOUR
HOLDS = {"unread", "frozen", "waiting"}


def read(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


def planned(mail: MailFiles, keep: int = 0) -> ArchivePlan:
    return plan_archive(read(mail), NOW, keep)


def leaving(plan: ArchivePlan) -> set[str]:
    return {message_id for thread in plan.threads for message_id in thread}


def stays(plan: ArchivePlan) -> dict[Reason, int]:
    return {stay.reason: stay.messages for stay in plan.stays}


def test_just_what_nobody_has_still_to_read_may_leave(tmp_path: Path) -> None:
    mail, expected = every_case(tmp_path)
    plan = planned(mail)
    assert leaving(plan) == {name for name, states in expected.items() if not HOLDS & set(states.values())}
    held = {name: set(states.values()) & HOLDS for name, states in expected.items()}
    assert stays(plan) == {
        Reason.UNREAD: sum("unread" in states for states in held.values()),
        Reason.FROZEN: sum("unread" not in states and "frozen" in states for states in held.values()),
        Reason.WAITING: sum(states == {"waiting"} for states in held.values()),
    }
    assert dict(plan.stays[0].by)["ann-00000001"] == sum(
        expected[name].get("ann-00000001") == "unread" for name in expected
    )


def test_the_newest_stay_whatever_became_of_them(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for number in range(10):
        mail.message(f"m{number}", "bob", "all", ago=(30 - number) * DAY)
    assert leaving(planned(mail, 4)) == {f"m{number}" for number in range(6)}
    assert stays(planned(mail, 4)) == {Reason.NEWEST: 4}
    assert planned(mail, 10).leaving == planned(mail, 99).leaving == 0
    assert planned(mail, 0).leaving == 10


def test_a_thread_leaves_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    for name in ("read", "held"):
        mail.message(name, "bob", "all", ago=50 * DAY)
        mail.message(f"{name}-1", "bob", "all", ago=40 * DAY, thread=name)
        mail.message(f"{name}-2", "bob", "all", ago=30 * DAY, thread=f"{name}-1")
    mail.message("open", "bob", "user", ago=20 * DAY, thread="held-1")
    mail.message("lost", "bob", "all", ago=50 * DAY, thread="nowhere")
    plan = planned(mail)
    assert set(plan.threads) == {("read", "read-1", "read-2"), ("lost",)}
    assert stays(plan) == {Reason.UNREAD: 1, Reason.THREAD: 3}


def test_archived_parts_of_a_thread_hold_nothing_back_and_do_not_leave_again(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("old", "bob", "user", ago=50 * DAY, archived=True)
    mail.message("answer", "user", "all", ago=40 * DAY, thread="old")
    assert planned(mail).threads == (("answer",),)


def test_months_are_those_of_the_messages_own_times_in_utc(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for number, timestamp in enumerate(
        ["2026-01-31T23:59:59Z", "2026-01-31T23:30:00-01:00", "2026-02-01T00:30:00+01:00", "1999-12-31T12:00:00Z"]
    ):
        mail.message(f"m{number}", "bob", "all", timestamp=timestamp)
    assert planned(mail).months == {"1999-12": 1, "2026-01": 2, "2026-02": 1}


def test_what_has_no_time_that_can_be_read_or_shares_its_line_stays(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("first", "bob", "all", ago=50 * DAY)
    mail.message("untimed", "bob", "all", timestamp="the other day")
    mail.message("glued-1", "bob", "all", ago=40 * DAY)
    mail.mailbox.write_bytes(mail.mailbox.read_bytes().removesuffix(b"\n"))
    mail.message("glued-2", "bob", "all", ago=40 * DAY)
    plan = planned(mail)
    assert leaving(plan) == {"first"}
    assert stays(plan) == {Reason.UNTIMED: 1, Reason.GLUED: 2}


def test_the_size_is_that_of_the_lines_that_leave(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "bob", "all", ago=50 * DAY)
    size = mail.mailbox.stat().st_size
    mail.message("new", "bob", "user")
    assert planned(mail).size == size


def test_a_dead_letter_is_one_in_the_archive_too_until_it_is_settled(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    for name in ("open", "done"):
        mail.message(name, "bob", "ann-00000001", ago=50 * DAY, archived=True)
    mail.message("read", "bob", "ann-00000001", ago=50 * DAY, archived=True, read_by=["ann-00000001"])
    mail.message("standing", "bob", "user", ago=50 * DAY, archived=True)
    mail.intervention("acknowledge", "done", recipient="ann-00000001")
    mailbox = read(mail)
    assert [message.message.id for message in mailbox.dead_letters(NOW)] == ["open"]
    assert mailbox.unread("user", NOW) == []
    assert mailbox.counts().expired == 0
