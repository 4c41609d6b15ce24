"""Snoozing: threads and rows that are away until their time, or until something happens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from console.panes.titles import empty_list, status_words
from console.quiet.marks import KindOfMark
from console.quiet.snooze import Occurrence, Snooze
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.quiet.snooze_menu import SnoozeMenu
from mailstore.state.views import View
from tests.console.quiet_desk import ANN, BOB, EVE, Desk, saved, write_mail
from tests.mailboxes import HOUR, NOW


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(write_mail(tmp_path), tmp_path)
    yield found
    found.close()


async def test_a_snoozed_thread_is_away_until_its_time_and_comes_back_on_top(desk: Desk, tmp_path: Path) -> None:
    assert desk.listed("for-you") == ["you", "ch3"]
    desk.at("ch3")
    desk.snoozing.snooze()
    await desk.choose("1")
    words = f"snoozed until {datetime.fromtimestamp(NOW + HOUR):%H:%M}"
    assert desk.listed("for-you") == ["you"]
    assert "ch3" not in desk.listed("unread")
    assert "1 snoozed" in status_words(desk.mailbox, View("for-you"), 1, 80)
    assert "snoozed" not in status_words(desk.mailbox, View("all"), 1, 80)
    assert (desk.rows()["For you"], desk.rows()["Snoozed"], desk.mailbox.counts().quiet) == (1, 1, 1)
    desk.now += 10 * HOUR
    desk.now -= 9.5 * HOUR
    await desk.look()
    assert desk.rows()["For you"] == 1, "half an hour later"
    desk.comes("ch4", ANN, "project:ink", thread="ch3", subject="Not to you")
    await desk.look()
    assert "ch3" not in desk.listed("unread"), "other mail does not bring it back"
    desk.now = NOW + HOUR
    await desk.look()
    assert desk.screen.notices[-1] == f"To you in the channel: {words}, back"
    assert desk.listed("for-you") == ["ch3", "you"]
    assert desk.listed("unread")[0] == "ch3"
    assert saved(desk, tmp_path).own_marks().snoozed == frozenset()
    desk.screen.listing.marked = {"you", "ch3", "gone"}
    assert desk.screen.listing.marked_roots()[-2:] == [it for it in desk.listed("unread") if it in ("ch3", "you")]
    desk.screen.listing.marked = set()
    desk.now = NOW
    await desk.look()
    assert desk.listed("for-you") == ["ch3", "you"], "the clock was set back: what is over stays over"
    desk.at("ch3", "ch3")
    await desk.look()
    desk.snoozing.place_left()
    await desk.screen.finish()
    assert desk.listed("for-you") == ["you", "ch3"]
    assert "Snoozed" not in desk.rows()


async def test_new_mail_to_the_person_ends_a_snooze(desk: Desk) -> None:
    desk.at("you")
    desk.snoozing.snooze()
    assert "when it is answered" in desk.labels()
    await desk.choose("3")
    desk.comes("you2", BOB, "user", thread="you", subject="May I now?")
    await desk.look()
    assert desk.screen.notices[-1].endswith("back: new mail to you")
    assert desk.listed("for-you")[0] == "you"
    assert desk.mailbox.counts().for_you == 3
    desk.undoing.undo()
    await desk.screen.finish()
    assert "Snoozed" not in desk.rows()


async def test_a_snooze_waits_for_an_answer_or_for_an_agent(desk: Desk) -> None:
    desk.at("ask")
    desk.snoozing.snooze()
    assert desk.labels()[-4:-1] == ["when it is answered", f"when {EVE} resumes", "when new mail comes here"]
    keys = dict(zip(desk.labels(), (choice.key for choice in desk.screen.dialogs[-1][0]._choices), strict=True))  # type: ignore[attr-defined]
    await desk.choose(keys[f"when {EVE} resumes"])
    await desk.look()
    assert desk.mailbox.is_snoozed(desk.mailbox.message("ask"))  # type: ignore[arg-type]
    desk.mail.agent(EVE, "living")
    desk.comes("noise", ANN, BOB, subject="Noise")
    await desk.look()
    assert desk.screen.notices[-1] == f"The colour?: snoozed until {EVE} resumes, back"
    desk.at("ask")
    desk.snoozing.snooze()
    assert f"when {EVE} resumes" not in desk.labels(), "it is alive already"
    gone = Snooze(Occurrence.AGENT, NOW, agent=EVE)
    over = gone.over("", desk.mailbox, NOW, lambda name: True, is_loading=True)
    assert over is not None, "one that was chosen is over at once"
    await desk.choose(keys["when it is answered"])
    await desk.look()
    assert desk.rows()["Snoozed"] == 1
    desk.comes("answer", EVE, BOB, thread="ask", subject="Blue", type="answer")
    await desk.look()
    assert desk.screen.notices[-1] == "The colour?: snoozed until it is answered, back"


async def follow_up(desk: Desk, key: str, due: str) -> None:
    """Choose to be told of a message of the user if nothing has happened to it by a time."""
    desk.snoozing.snooze()
    await desk.choose(key)
    _, answered = desk.screen.dialogs.pop()
    answered(due)
    await desk.screen.finish()


async def test_a_message_of_the_user_comes_back_if_nobody_answers_in_time(desk: Desk) -> None:
    desk.comes("mine", "user", [BOB, ANN], subject="Which colour?")
    desk.at("mine")
    await follow_up(desk, "a", "2h")
    latest = f"{datetime.fromtimestamp(NOW + 2 * HOUR):%H:%M} at the latest"
    assert desk.screen.notices[-1] == f"Snoozed until it is answered, {latest}: Which colour?"
    await desk.look()
    assert desk.rows()["Snoozed"] == 1
    desk.now = NOW + 2 * HOUR
    await desk.look()
    assert desk.screen.notices[-1] == f"Which colour?: back: not answered by {latest[:5]}"
    assert desk.listed("for-you")[0] == "mine"
    await follow_up(desk, "a", "2h")
    desk.comes("answer", BOB, "user", thread="mine", subject="Blue")
    await desk.look()
    assert desk.screen.notices[-1].endswith("back"), "an answer in time"


async def test_a_message_of_the_user_comes_back_with_who_has_not_read_it(desk: Desk) -> None:
    desk.comes("mine", "user", [BOB, ANN], subject="Stop now")
    desk.at("mine")
    await follow_up(desk, "r", "20m")
    desk.mail.read("mine", ANN)
    desk.comes("noise", ANN, BOB, subject="Noise")
    desk.now = NOW + HOUR / 3
    await desk.look()
    assert desk.screen.notices[-1].endswith(f": {BOB}")
    assert "back: not read by " in desk.screen.notices[-1]
    await follow_up(desk, "r", "20m")
    desk.mail.read("mine", BOB)
    desk.comes("more", ANN, BOB, subject="Noise")
    await desk.look()
    assert desk.screen.notices[-1].endswith("back"), "all have read it"
    gone = Snooze(Occurrence.READ, desk.now, desk.now + HOUR, about="gone", size=9, known=frozenset({"mine"}))
    mailbox = desk.screen.session.live
    assert gone.over("mine", mailbox, desk.now, lambda _: False, is_loading=False) is None
    ended = gone.over("mine", mailbox, desk.now + HOUR, lambda _: False, is_loading=False)
    assert ended is not None
    assert ended.back_words().endswith("the message is gone")
    desk.at("ask")
    desk.snoozing.snooze()
    assert not [label for label in desk.labels() if "or a time" in label], "a message of others"


async def test_a_typed_time_and_the_end_of_a_snooze_by_hand(desk: Desk) -> None:
    desk.at("ask")
    desk.screen.session.moment = NOW - HOUR
    desk.snoozing.snooze()
    assert desk.screen.notices[-1].startswith("Can't snooze here")
    desk.screen.session.moment = None
    desk.snoozing.snooze()
    await desk.choose("t")
    prompt, answered = desk.screen.dialogs.pop()
    assert "Can't read this" in prompt._check("yesterday")  # type: ignore[attr-defined]
    answered("3d")
    await desk.screen.finish()
    assert desk.screen.session.personal.quiet.snooze((KindOfMark.SNOOZED_THREAD, "ask")) is not None
    desk.snoozing.snooze()
    await desk.choose("n")
    assert desk.rows().get("Snoozed") is None
    assert desk.screen.notices[-1] == "No longer snoozed: The colour?"


async def test_hostile_subjects_are_safe_in_menus_and_an_empty_view_says_what_it_leaves_out(desk: Desk) -> None:
    desk.comes("evil", BOB, "user", subject="[bold]\x1b[2J\x07" + "long " * 60)
    desk.at("evil")
    desk.muting.mute()
    assert "\x1b" not in desk.labels()[0]
    assert len(desk.labels()[0]) <= 60
    await desk.choose("t")
    assert "\x1b" not in desk.screen.notices[-1]
    desk.snoozing.snooze()
    assert "\x1b" not in desk.screen.dialogs[-1][0]._question  # type: ignore[attr-defined]
    await desk.choose("1")
    assert "\x1b" not in desk.screen.notices[-1]
    assert empty_list(desk.screen.session, View("for-you"), is_filtered=False)[-1].endswith("1 snoozed")


async def test_rows_of_attention_are_snoozed_and_come_back(desk: Desk) -> None:
    menu = SnoozeMenu(desk.screen, MarkKeeping(desk.screen))
    menu.rows([("ask", EVE)], [EVE], "a dead letter")
    await desk.choose("1")
    quiet = desk.screen.session.personal.quiet
    assert quiet.is_row_snoozed("ask", EVE)
    assert not quiet.is_row_snoozed("ask", BOB)
    desk.now += HOUR
    await desk.look()
    assert not quiet.is_row_snoozed("ask", EVE)
