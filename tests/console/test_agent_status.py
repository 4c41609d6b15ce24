"""Agents are frozen, resumed and retired in the console: what it means for their mail is said first, and undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mailstore.state.views import View
from tests.console.screen_text import opened
from tests.mailboxes import DAY, HOUR, NOW, MailFiles, iso

ANN, BOB, CID, OLD, DED = "ann-00000001", "bob-00000001", "cid-00000001", "old-00000001", "ded-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, last_seen=iso(NOW - 300), extra_field="kept")
    mail.agent(BOB, last_seen=iso(NOW - 9 * DAY))
    mail.agent(OLD, "frozen", last_seen=iso(NOW - 10 * DAY))
    mail.agent(DED, "dead", ended_at=iso(NOW - HOUR))
    mail.message("ask", BOB, ANN, "Which colour?", ago=500, subject="Colour", type="question")
    mail.message("fyi", ANN, BOB, "Blue.", ago=400, subject="Blue")
    mail.message("wait", ANN, OLD, "Later?", ago=2 * HOUR, subject="Later", type="question")
    return mail


def agents(mail: MailFiles) -> dict[str, dict[str, Any]]:
    """Return the last line of each agent in the roster."""
    lines = (mail.data / "agent-roster.jsonl").read_bytes().splitlines()
    return {record["session_id"]: record for record in map(json.loads, lines)}


def status(mail: MailFiles) -> dict[str, str]:
    return {name: record["status"] for name, record in agents(mail).items()}


async def test_an_agent_is_retired_after_asking_and_undone_and_done_again(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.open_thread("ask")
        await seat.press("H")
        await seat.sees("bob-00000001 (living)")
        assert "1 unread message will wait until it is resumed" in seat.text
        assert "1 unread message will be dead letters" in seat.text
        await seat.press("x")
        await seat.sees("Retire bob-00000001?")
        assert "bob-00000001  living, seen 9d ago" in seat.text
        assert status(mail)[BOB] == "living"
        await seat.press("y")
        await seat.sees("Retired: bob-00000001 · z: undo")
        assert (status(mail)[BOB], agents(mail)[BOB]["ended_at"] is None) == ("dead", False)
        await seat.sees("Dead letters          1")
        await seat.press("z")
        await seat.sees("bob-00000001: living")
        await seat.press("y")
        await seat.until(lambda: status(mail)[BOB] == "living")
        await seat.until(lambda: "Dead letters          1" not in seat.text)
        await seat.press("Z", "y")
        await seat.until(lambda: status(mail)[BOB] == "dead")


async def test_a_role_is_given_with_what_it_means_for_mail_and_undone(mail: MailFiles) -> None:
    mail.agent(CID, role="scribe")
    mail.agent(OLD, "dead", role="clerk", ended_at=iso(NOW - HOUR))
    mail.message("open", ANN, "clerk", "Who does it?", ago=60, subject="For the clerk")
    async with opened(mail.data) as seat:
        seat.screen.show_view(View("agent", CID))
        await seat.press("H", "e")
        await seat.sees(f"Role of {CID}")
        await seat.press("enter")
        await seat.sees("That is what it has")
        await seat.press("ctrl+u", *"human", "enter")
        await seat.sees('"human" can\'t be a role')
        await seat.press("ctrl+u", *"clerk", "enter")
        await seat.sees(f"Set the role of {CID}?")
        shown = " ".join(seat.text.replace("│", " ").split())
        assert f"{CID}: scribe → clerk" in shown
        assert "1 message on hold for clerk will be for it to read." in shown
        assert "No other agent holds scribe: mail to it will be on hold." in shown
        await seat.press("y")
        await seat.sees(f"Role clerk: {CID} · z: undo")
        assert agents(mail)[CID]["role"] == "clerk"
        assert seat.app.session.mailbox.unread_count(CID) == 1
        await seat.press("z")
        await seat.sees(f"{CID}: scribe")
        await seat.press("y")
        await seat.until(lambda: agents(mail)[CID]["role"] == "scribe")


async def test_tags_are_set_with_the_channels_that_are_joined_and_left(mail: MailFiles) -> None:
    mail.agent(CID, tags=["project:ink", "concern:[b]x"], extra_field="kept")
    async with opened(mail.data) as seat:
        seat.screen.show_view(View("agent", CID))
        await seat.press("H", "t")
        await seat.sees(f"Tags of {CID}")
        await seat.press("ctrl+u", *"zzz", "enter")
        await seat.sees('"zzz" is not a tag')
        await seat.press("ctrl+u", *"project:ink, domain:maps", "enter")
        await seat.sees("It joins #maps.")
        assert "It leaves #[b]x." in seat.text
        await seat.press("y")
        await seat.sees(f"Tags project:ink, domain:maps: {CID}")
        assert agents(mail)[CID]["tags"] == ["project:ink", "domain:maps"]
        assert agents(mail)[CID]["extra_field"] == "kept"
        await seat.press("z", "y")
        await seat.until(lambda: agents(mail)[CID]["tags"] == ["project:ink", "concern:[b]x"])


async def test_who_was_not_seen_for_a_while_is_retired_as_a_plan(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("H", "o")
        await seat.sees("Retire agents not seen for")
        await seat.press(*("backspace",) * 2, *"1x", "enter")
        await seat.sees("Write an age, such as 7d or 12h, or a date")
        await seat.press(*("backspace",) * 2, *"20d", "enter")
        await seat.sees("All agents that have not ended were seen since")
        await seat.press(*("backspace",) * 3, *"7d", "enter")
        await seat.sees("Retire 2 agents?")
        shown = " ".join(seat.text.replace("│", " ").split())
        assert "old-00000001 frozen, seen 10d ago bob-00000001 living, seen 9d ago" in shown
        assert "2 unread messages will be dead letters." in shown
        await seat.press("n")
        assert seat.notice == "Nothing was written"
        assert status(mail)[BOB] == "living"
        await seat.press("H", "o", "enter")
        await seat.sees("Retire 2 agents?")
        await seat.press("y")
        await seat.sees("Retired: 2 agents · z: undo")
        assert status(mail) == {ANN: "living", BOB: "dead", OLD: "dead", DED: "dead"}
        await seat.press("z", "y")
        await seat.until(lambda: status(mail) == {ANN: "living", BOB: "living", OLD: "frozen", DED: "dead"})
        assert not agents(mail)[BOB].get("ended_at")


async def test_on_a_row_the_agent_that_is_waited_for_is_resumed(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("p")
        await seat.sees("Later")
        await seat.press("H")
        await seat.sees("old-00000001 (frozen)")
        assert "f  freeze" not in seat.text
        await seat.press("r")
        await seat.sees("Resume old-00000001?")
        await seat.press("y")
        await seat.until(lambda: status(mail)[OLD] == "living")
        await seat.sees("✓ Later")
        assert "Resumed" in seat.text


async def test_where_nothing_is_written_nobody_is_asked(mail: MailFiles) -> None:
    before = (mail.data / "agent-roster.jsonl").read_bytes()
    async with opened(mail.data, observe=True) as seat:
        await seat.open_thread("ask")
        await seat.press("H")
        assert seat.notice == "Can't change agents here: observing: nothing is written"
    assert (mail.data / "agent-roster.jsonl").read_bytes() == before
