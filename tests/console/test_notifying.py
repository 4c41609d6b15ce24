"""What the person is told of, by which ways, and what is left quiet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from console.notifications.notifier import Notifier, osc9, run_quietly, show_on_desktop
from console.notifications.rules import (
    DeliveryMethod,
    Notification,
    Occasion,
    delivery_methods,
    group_notifications,
    is_quiet,
    occasion_of,
)
from console.settings.config import Config, NotificationSettings
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from tests.console.screen_text import opened
from tests.hooked import hooked
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.kinds.claude_teams.teams import entry, team, write
from tests.mailboxes import NOW, MailFiles

HOSTILE = "; touch /tmp/owned\x07\x1b]0;x\x07 $(id) \x9c"


def message(**fields: object) -> Message:
    usual: dict[str, object] = {"id": "m", "sender": "ann-00000001", "recipients": ("user",), "subject": "A word"}
    return Message(**{**usual, "timestamp": "", "time": NOW, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "occasion"),
    [
        ({}, Occasion.TO_ME),
        ({"type": "question"}, Occasion.QUESTION),
        ({"recipients": ("project:ink",)}, Occasion.CHANNEL),
        ({"recipients": ("project:elsewhere",)}, None),
        ({"recipients": ("bob-00000001",)}, None),
        ({"sender": "user", "recipients": ("bob-00000001",)}, None),
    ],
)
def test_what_a_message_is_to_the_person(fields: dict[str, object], occasion: Occasion | None) -> None:
    mailbox = Mailbox()
    mailbox.fold([message(**fields)], NOW)
    found = mailbox.message("m")
    assert found is not None
    assert occasion_of(found, mailbox, {"project:ink"}) is occasion


def test_what_came_together_is_told_together() -> None:
    found = [(Occasion.TO_ME, message(id=str(number))) for number in range(3)]
    told = group_notifications([*found, (Occasion.QUESTION, message(id="q", subject="Well?"))])
    assert [(it.occasion, it.count, it.words) for it in told] == [
        (Occasion.QUESTION, 1, "ann-00000001: Well?"),
        (Occasion.TO_ME, 3, "ann-00000001: A word and 2 more"),
    ]


@pytest.mark.parametrize(
    ("start", "end", "at", "quiet"),
    [
        ("22:00", "07:00", "23:30", True),
        ("22:00", "07:00", "06:59", True),
        ("22:00", "07:00", "07:00", False),
        ("12:00", "13:00", "12:30", True),
        ("12:00", "13:00", "11:59", False),
        (None, "13:00", "12:30", False),
    ],
)
def test_quiet_hours(start: str | None, end: str | None, at: str, quiet: bool) -> None:
    now = datetime.fromisoformat(f"2026-03-16T{at}").timestamp()
    assert is_quiet(NotificationSettings(quiet_from=start, quiet_to=end), now) is quiet


def test_by_day_by_night_and_without_a_bell() -> None:
    settings = NotificationSettings(to_me=["toast", "bell", "command"], quiet_from="00:00", quiet_to="23:59")
    notice = Notification(Occasion.TO_ME, 1, message())
    assert delivery_methods(notice, NotificationSettings(), NOW) == [DeliveryMethod.TOAST, DeliveryMethod.BELL]
    assert delivery_methods(notice, NotificationSettings(), NOW, bell=False) == [DeliveryMethod.TOAST]
    assert delivery_methods(notice, settings, NOW) == [DeliveryMethod.TOAST]
    assert delivery_methods(Notification(Occasion.CHANNEL, 1, message()), NotificationSettings(), NOW) == []


def test_what_the_terminal_is_told_can_not_end_early() -> None:
    text = osc9(Notification(Occasion.TO_ME, 1, message(subject=HOSTILE)))
    assert text.startswith("\x1b]9;For you: ann-00000001: ; touch")
    assert text.endswith("\x07")
    assert text[4:-1].isprintable()


async def test_a_command_gets_a_notice_in_its_environment_and_no_shell_sees_it(tmp_path: Path) -> None:
    out = tmp_path / "told"
    script = tmp_path / "tell"
    fields = '"$SIGNALBOX_KIND" "$SIGNALBOX_COUNT" "$SIGNALBOX_SUBJECT"'
    script.write_text(f'#!/bin/sh\nprintf "%s|%s|%s" {fields} > {out}\n')
    script.chmod(0o755)
    notice = Notification(Occasion.QUESTION, 2, message(subject=HOSTILE))
    assert await run_quietly(str(script), notice) == ""
    assert out.read_text() == f"question|2|{HOSTILE}"
    endless = Notification(Occasion.QUESTION, 2, message(subject="\0\udc80" + "x" * 200_000))
    assert await run_quietly(str(script), endless) == ""
    assert out.read_text().startswith("question|2|?x")
    assert "can't be run" in await run_quietly("nowhere-to-be-found", notice)
    assert await run_quietly("false", notice) == "false exited with status 1"
    assert "can't parse" in await run_quietly("'", notice)
    assert "is empty" in await run_quietly("", notice)


async def test_a_desktop_without_its_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "notify-send is not installed" in await show_on_desktop(Notification(Occasion.TO_ME, 1, message()))
    program = tmp_path / "notify-send"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$4\" > '{tmp_path}/shown'\n")
    program.chmod(0o755)
    sent = message(subject="<a href='x'>&amp;</a><img src='y'>")
    assert await show_on_desktop(Notification(Occasion.TO_ME, 1, sent)) == ""
    shown = (tmp_path / "shown").read_text()
    assert "&lt;a href='x'&gt;&amp;amp;&lt;/a&gt;&lt;img src='y'&gt;" in shown
    assert "<" not in shown


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.agent("ded-00000001", "dead")
    mail.message("old", "ann-00000001", "ded-00000001", "Alive?", ago=60, subject="An old message")
    mail.message("mine", "ann-00000001", "user", "Hello.", ago=50, subject="Before")
    return mail


class Delays:
    """An application that only says how long it was to wait."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.callbacks: list[Callable[[], None]] = []
        self.notify = self.bell = lambda *words, **more: None

    def set_timer(self, delay: float, callback: Callable[[], None]) -> None:
        self.waited.append(delay)
        self.callbacks.append(callback)


async def test_after_many_at_once_the_next_are_collected_for_longer(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        told = Delays()
        notifier: Any = Notifier(told, seat.app.session)  # type: ignore[arg-type]
        for number in (10, 11, 1):
            notifier.note([message(id=f"{number}-{at}") for at in range(number)])
            told.callbacks.pop()()
        assert told.waited[:2] == [0.5, 0.5]
        assert told.waited[2] == pytest.approx(3.0, abs=1.0)


def toasts(app: object) -> list[str]:
    return [f"{it.title}: {it.message}" for it in app._notifications]  # type: ignore[attr-defined]


async def test_mail_to_the_person_and_messages_that_die_are_told_and_what_was_there_is_not(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        assert toasts(seat.app) == []
        mail.message("quiet", "ann-00000001", "bob-00000001", "Between us.", ago=0)
        mail.message("new", "ann-00000001", "user", "Well?", ago=0, subject="Come [bold]here[/]", type="question")
        mail.message("lost", "ann-00000001", "ded-00000001", "You?", ago=0, subject="A new message")
        await seat.until(lambda: len(toasts(seat.app)) == 2)
        question, item = toasts(seat.app)
        assert question == "A question to you: ann-00000001: Come [bold]here[/]"
        assert item.startswith("Dead letter: ann-00000001: ")


async def test_a_mailbox_that_is_read_anew_tells_nothing_twice(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        lines = mail.mailbox.read_bytes()
        other = mail.mailbox.with_name("other")
        other.write_bytes(lines)
        other.rename(mail.mailbox)
        await seat.until(lambda: any("Reloaded" in it for it in toasts(seat.app)))
        mail.message("new", "ann-00000001", "user", "Now.", ago=0, subject="After")
        await seat.until(lambda: any("For you" in it for it in toasts(seat.app)))
        assert [it for it in toasts(seat.app) if "Reloaded" not in it] == ["For you: ann-00000001: After"]


async def test_the_settings_say_what_is_told(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    config = Config(notifications=NotificationSettings(to_me=[], dead_letter=[]))
    async with opened(mail.data, config=config) as seat:
        mail.message("new", "ann-00000001", "user", "Now.", ago=0)
        mail.message("ask", "ann-00000001", "user", "Well?", ago=0, type="question", subject="Ask")
        await seat.until(lambda: toasts(seat.app) == ["A question to you: ann-00000001: Ask"])


async def test_who_waits_for_a_permission_is_told_of_and_again_while_nobody_answers(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("m", "ann-00000001", "user", "The lamp.", ago=60)
    hooked(mail.url, "ann-00000001", doing="idle", since=NOW, last_run=NOW)
    config = Config(notifications=NotificationSettings(again_minutes=5))
    async with opened(mail.data, size=(120, 40), config=config) as seat:
        session, told = seat.app.session, Told()
        notifier = Notifier(told, session)
        await seat.until(lambda: session.hooked.live)
        notifier.note_waiting()
        hooked(mail.url, "ann-00000001", doing="waiting", since=NOW, last_run=NOW)
        await seat.until(lambda: session.hooked.live["ann-00000001"].doing == "waiting")
        notifier.note_waiting()
        notifier.note_waiting()
        assert told.take() == ["Waiting for your permission"], "once"
        again = ["Still waiting for your permission"]
        for minutes, expected in ((4, []), (6, again), (7, []), (12, again)):
            session.clock = lambda minutes=minutes: NOW + minutes * 60
            notifier.note_waiting()
            assert told.take() == expected
        hooked(mail.url, "ann-00000001", doing="working", since=NOW + 1, last_run=NOW + 1)
        await seat.until(lambda: session.hooked.live["ann-00000001"].doing == "working")
        notifier.note_waiting()
        assert told.take() == []


class Told:
    """An application that notes what it is to show."""

    def __init__(self) -> None:
        self._titles: list[str] = []
        self._due: list[Callable[[], None]] = []

    def notify(self, message: str, *, title: str = "", **how: Any) -> None:
        self._titles.append(title)

    def bell(self) -> None:
        pass

    def write_to_terminal(self, text: str) -> None:
        pass

    def set_timer(self, delay: float, callback: Callable[[], None]) -> None:
        self._due.append(callback)

    def run_worker(self, work: Any, *, group: str, exit_on_error: bool) -> None:
        pass

    def take(self) -> list[str]:
        """Let the timers pass; return the titles of what was shown since the last call."""
        for callback in self._due:
            callback()
        titles, self._titles, self._due = self._titles, [], []
        return titles


async def test_a_message_is_new_once_though_each_of_its_copies_comes(tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.agent("ann@localhost")
    header = {"From": "bob.agenttalk", "To": "ann.agenttalk", "Date": "2026-11-20T12:00:01", "Subject": "Ink"}
    async with opened(str(mail.root)) as seat:
        for where, name in (("ann.agenttalk/inbox", "relayed"), ("bob.agenttalk/sent", "own")):
            mail.message(where, name, **header)
            await seat.until(lambda name=name: seat.app.session.live.is_recorded(name))
        assert [*seat.app.session.arrived] == ["relayed"]


async def test_a_message_of_which_the_record_changes_is_not_new_again(tmp_path: Path) -> None:
    folder = team(tmp_path, members=("lead", "ann", "bob"))
    async with opened(str(folder)) as seat:
        session = seat.app.session
        write(folder, "ann", [entry("One.", msg_id="m1")])
        await seat.until(lambda: [*session.arrived] == ["m1"])
        session.arrived.clear()
        write(folder, "bob", [entry("One.", msg_id="m1")])
        await seat.until(lambda: session.live.messages()[0].recipients == ("ann", "bob"))
        assert not session.arrived
