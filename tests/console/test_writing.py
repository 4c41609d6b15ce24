"""Writing: it is said whom a message reaches, it reaches them, and no word of a draft is lost."""

from __future__ import annotations

import json
from functools import partial
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input

from console.screens.writing import sending
from console.settings.config import Config, SendSettings
from console.state.composer_draft import ComposerDraft
from mailstore.haak import HaakStore
from mailstore.records.draft import Draft
from mailstore.records.message import Message
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.console.shared_console import SharedConsole
from tests.mailboxes import HOUR, NOW, MailFiles, iso
from tests.patience import PATIENCE


def write_talk(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"], last_seen=iso(NOW - 60))
    mail.agent("bob-00000001", tags=["project:ink"], last_seen=iso(NOW - 2 * HOUR))
    mail.agent("fro-00000001", "frozen", tags=["project:ink"])
    mail.agent("ded-00000001", "dead", role="lamp", ended_at=iso(NOW - HOUR))
    mail.message("q", "ann-00000001", "bob-00000001", "Which colour?", ago=500, subject="The colour")
    mail.message("a", "bob-00000001", "ann-00000001", "Blue, then.", ago=400, thread="q")
    mail.message("you", "bob-00000001", "user", "May I?\nPlease.", ago=200, subject="A question to you")
    mail.message("ch", "bob-00000001", "project:ink", "To the channel.", ago=100, subject="In the channel")
    return mail


def records(mail: MailFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mail.mailbox.read_text().splitlines()]


def journal(mail: MailFiles) -> list[dict[str, Any]]:
    file = mail.data / "agent-mailbox-oversight.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def fill(seat: Seat, to: str, body: str = "") -> None:
    """Write an address and a text into the composer, as keys would."""
    seat.screen.composer.open(ComposerDraft("new"))
    seat.screen.composer.focus_field()
    await settle(seat.pilot)
    await seat.press(*to)
    seat.screen.composer.query_one("#body").focus()
    await seat.press(*body)


async def sent(seat: Seat, mail: MailFiles, number: int) -> dict[str, Any]:
    """Send, and return the message that came into the file."""
    await seat.press("ctrl+s")
    await seat.until(lambda: len(records(mail)) == number)
    await seat.until(lambda: f"{number} messages" in seat.lines[0])
    await settle(seat.pilot)
    return records(mail)[-1]


@pytest.mark.parametrize(
    ("to", "written"),
    [
        ("#ink", "project:ink"),
        ("clerk", "clerk"),
        ("ann-0000", "ann-00000001"),
        ("all", "all"),
        ("ann-00000001, bob-00000001", ["ann-00000001", "bob-00000001"]),
    ],
)
async def test_a_message_is_written_to_whom_it_says_and_appears_in_the_list(
    to: str, written: str | list[str], tmp_path: Path
) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await fill(seat, to, "Good day.")
        message = await sent(seat, mail, 5)
        assert message["recipient"] == written
        assert message["sender"] == "user"
        assert message["content"] == "Good day."
        assert not seat.screen.composer.is_open
        assert seat.notice == "Sent"
        assert any("Good day." in line[26:64] for line in seat.lines)
    assert journal(mail) == []


async def test_writing_from_a_channel_goes_to_the_channel_and_from_an_agent_to_the_agent(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        for view, to in ((View("channel", "project:ink"), "#ink"), (View("agent", "bob-00000001"), "bob-00000001")):
            seat.screen.show_view(view)
            await seat.press("2", "c")
            assert seat.screen.composer.writing.recipients == to
            await seat.press("escape")


async def test_an_answer_to_mail_for_the_user_goes_to_its_sender_in_its_thread(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("you")
        await seat.press("r", *"Yes.")
        message = await sent(seat, mail, 5)
    assert (message["recipient"], message["thread"]) == ("bob-00000001", "you")
    assert message["subject"] == "Re: A question to you"
    assert journal(mail) == []


async def test_an_answer_in_a_channel_goes_to_the_channel(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("ch")
        await seat.press("r", *"Noted.")
        assert (await sent(seat, mail, 5))["recipient"] == "project:ink"
    assert journal(mail) == []


@pytest.mark.parametrize("key", ["r", "R"])
async def test_stepping_in_between_two_agents_reaches_both_is_noted_and_is_marked(key: str, tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("q")
        await seat.press(key, *"Green.")
        assert "Step in" in seat.text
        message = await sent(seat, mail, 5)
        assert set(message["recipient"]) == {"ann-00000001", "bob-00000001"}
        assert "intervention" in seat.notice
        await seat.sees("⚑")
        await seat.sees("Green.")
    (record,) = journal(mail)
    assert (record["actor"], record["action"], record["message_id"]) == ("user", "intervene", message["id"])


async def test_a_message_that_came_since_the_list_was_drawn_is_shown_in_its_own_thread(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("q")
        assert "In the channel" in seat.text, "the rows are drawn"
        came = Message(
            id="new",
            sender="bob-00000001",
            recipients=("ann-00000001",),
            timestamp="",
            time=NOW,
            subject="New",
            thread="q",
        )
        seat.app.session.live.fold([came], NOW)
        seat.screen.show_message("new")
        await settle(seat.pilot)
        assert (seat.screen.threads.cursor_key, seat.screen.conversation.root) == ("q", "q")
        seat.screen.redraw()
        await settle(seat.pilot)
        assert (seat.screen.threads.cursor, seat.screen.conversation.root) == (0, "q")


async def test_a_quote_stands_above_the_answer(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("you")
        await seat.press("greater_than_sign")
        await seat.sees("> May I?")
        await seat.press(*"Yes.")
        message = await sent(seat, mail, 5)
    assert message["content"] == "> May I?\n> Please.\n\nYes."


async def test_a_long_quote_says_how_much_it_leaves_out(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    mail.message("long", "bob-00000001", "user", "\n".join(map(str, range(43))), ago=5, subject="Long")
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("greater_than_sign")
        await seat.until(lambda: seat.screen.composer.writing.body.endswith("> 39\n> [3 more lines]\n\n"))


REACHES = (
    ("ann-00000001", "reaches ann-00000001"),
    ("#ink", "on hold, frozen: fro-00000001"),
    ("lamp", "on hold, no holder: lamp"),
    ("bob-00000001", "not seen lately: bob-00000001"),
    ("nobody", "no agent named nobody"),
    ("ded-00000001", "dead: ded-00000001"),
    ("all", "expires in 4 h"),
    ("clerk", "reaches ann-00000001"),
    ("clerk", "never expires"),
    ("", "Recipients: an agent"),
    ("#nothing", "names an unknown channel #nothing"),
)


async def test_who_is_named_in_the_text_is_counted_among_those_reached(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, size=(160, 40)) as seat:
        await fill(seat, "ann-00000001", "See below")
        assert "reaches ann-00000001" in seat.text
        await seat.type(", @bob-00000001")
        await seat.until(lambda: "reaches 2: ann-00000001, bob-00000001" in in_composer(seat))
        await seat.press("ctrl+s")
    assert '"bob-00000001"' in (mail.data / "agent-mailbox-deliveries.jsonl").read_text()


async def test_it_is_said_in_what_time_those_who_are_reached_usually_read(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    for number in range(3):
        for name, delay in (("ann-00000001", 120), ("bob-00000001", 5400)):
            mail.message(f"{name}-{number}", "user", name, "Hm.", ago=9000 - number)
            mail.read(f"{name}-{number}", name, ago=9000 - number - delay)
    async with opened(mail.data, size=(160, 40)) as seat:
        await fill(seat, "ann-00000001", "See below")
        await seat.until(lambda: "reaches ann-00000001 · usually read in 2 min · " in in_composer(seat))
        await seat.type(", @bob-00000001")
        await seat.until(lambda: "usually read in 2 min to 1.5 h" in in_composer(seat))


def in_composer(seat: Seat) -> str:
    """Return what stands in the right column, without its lines' ends."""
    return " ".join("\n".join(line[70:].strip("│ ") for line in seat.lines).split())


async def is_said(to: str, said: str, seat: Seat) -> None:
    await fill(seat, to, "Hm.")
    assert said in in_composer(seat), to


async def test_it_is_said_whom_a_message_reaches_before_it_is_sent(tmp_path: Path) -> None:
    async with SharedConsole(lambda folder: write_talk(folder).data, tmp_path, size=(160, 40)) as console:
        for to, said in REACHES:
            await console.attempt(partial(is_said, to, said))


DOUBTFUL = (
    ("bbo-00000001", 'no agent is named "bbo-00000001" (did you mean bob-00000001?)'),
    ("nobody", 'no agent is named "nobody"'),
    ("ded-00000001", "ded-00000001 has ended and will not read it"),
    ("all", "it goes to 2 agents"),
)


@pytest.mark.parametrize(("to", "said"), DOUBTFUL)
async def test_what_few_send_on_purpose_takes_a_second_key(
    to: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = write_talk(tmp_path)
    before = mail.mailbox.read_bytes()
    config = Config(send=SendSettings(confirm_above=1))
    async with opened(mail.data, size=(160, 40), config=config) as seat:
        await fill(seat, to, "Hm.")
        monkeypatch.setattr(sending, "HASTE_SECONDS", inf)
        await seat.press("ctrl+s", "ctrl+s")
        assert f"{said} · ctrl+s again: send it all the same" in in_composer(seat)
        assert mail.mailbox.read_bytes() == before, "two presses at once are one"
        monkeypatch.setattr(sending, "HASTE_SECONDS", 0)
        await seat.press(*"Oh.")
        assert said not in in_composer(seat)
        await seat.press("ctrl+s")
        assert mail.mailbox.read_bytes() == before, "the text was changed since"
        await seat.press("ctrl+s")
        assert not seat.screen.composer.is_open
    assert records(mail)[-1]["content"] == "Hm.Oh."


async def test_a_misspelled_name_is_put_right_by_enter(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, size=(160, 40)) as seat:
        await seat.press("c", *"bbo-00000001")
        assert seat.screen.composer.writing.recipients == "bbo-00000001"
        await seat.press("enter")
        assert seat.screen.composer.writing.recipients == "bob-00000001"


async def test_nothing_lies_on_the_line_that_says_whom_a_message_reaches(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data, size=(80, 24)) as seat:
        await fill(seat, "bob-00000001", "Hm.")
        seat.app.notify("A piece of news.", timeout=60)
        await seat.sees("A piece of news.")
        where = [any(words in line for words in ("reaches", "not seen lately")) for line in seat.lines]
        news = [("A piece of news." in line) for line in seat.lines]
        assert any(where)
        assert news.index(True) < where.index(True) - 3


@pytest.mark.parametrize(
    ("to", "body", "said"),
    [("", "Hm.", "to is missing"), ("ann-00000001", "", "empty"), ("#nothing", "Hm.", "unknown channel")],
)
async def test_a_refused_draft_says_why_and_nothing_is_written(to: str, body: str, said: str, tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, size=(160, 40)) as seat:
        await fill(seat, to, body)
        await seat.press("ctrl+s")
        assert said in " ".join("\n".join(line[70:].strip("│ ") for line in seat.lines).split())
        assert seat.screen.composer.is_open
        assert mail.mailbox.read_bytes() == before
        mail.message("more", "bob-00000001", "ann-00000001", "Meanwhile.", ago=0)
        await seat.sees("Meanwhile.")
        assert said in " ".join("\n".join(line[70:].strip("│ ") for line in seat.lines).split())


async def test_a_store_that_refuses_keeps_the_draft(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db", size=(160, 40)) as seat:
        await fill(seat, "ann-00000001", "Hm.")
        mail.data.rename(tmp_path / "elsewhere")
        await seat.press("ctrl+s")
        # it is said by what sends, or by the line below the text if it is noticed before that
        await seat.until(lambda: "Not sent" in seat.text or "the draft is kept" in seat.text)
        assert seat.screen.composer.is_open
        assert seat.screen.composer.writing.body == "Hm."


async def test_a_message_without_a_record_in_the_journal_counts_as_sent(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db", size=(160, 40)) as seat:
        await seat.open_thread("q")
        await seat.press("R", *"Stop it.")
        (mail.data / "agent-mailbox-oversight.jsonl").mkdir()
        await seat.press("ctrl+s")
        await seat.sees("Sent, but not in the journal")
        assert not seat.screen.composer.is_open
        assert mail.mailbox.read_text().count("Stop it.") == 1


async def test_a_draft_is_kept_on_escape_and_found_again_in_another_console(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.open_thread("you")
        await seat.press("r", *"Half a thought", "escape")
        assert seat.notice == "Draft kept"
        assert not seat.screen.composer.is_open
        await seat.sees("1 draft")
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.sees("1 draft")
        await seat.open_thread("you")
        await seat.press("r")
        assert seat.screen.composer.writing.body == "Half a thought"
        assert "Half a thought" in seat.text


async def test_a_draft_comes_back_with_its_thread_and_stays_with_it(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("you")
        await seat.press("r", *"For you", "escape")
        await seat.open_thread("q")
        assert "For you" not in "\n".join(line[66:] for line in seat.lines)
        await seat.press("r", *"For them", "escape")
        await seat.open_thread("you")
        assert "For you" in "\n".join(line[66:] for line in seat.lines)
        await seat.sees("2 drafts")


async def test_a_draft_survives_every_size(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await fill(seat, "ann-00000001", "A thought.")
        for size in ((60, 20), (200, 60), (80, 24)):
            await seat.pilot.resize_terminal(*size)
            await settle(seat.pilot)
            assert "A thought." in seat.text
            assert seat.screen.pane() == "composer"


async def test_discarding_asks_and_the_answer_is_no_by_default(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data, state=tmp_path / "state.db") as seat:
        await fill(seat, "ann-00000001", "A thought.")
        for answer, is_kept in (("enter", True), ("escape", True), ("y", False)):
            await seat.screen.action_run("compose.discard")
            await seat.sees("Discard this draft?")
            await seat.press(answer)
            assert ("1 draft" in seat.lines[0]) == is_kept or seat.screen.session.personal.draft_count == is_kept


async def test_sending_twice_in_haste_sends_once(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await fill(seat, "ann-00000001", "Once.")
        await seat.pilot.press("ctrl+s", "ctrl+s", "f5")
        await seat.until(lambda: "5 messages" in seat.lines[0])
        await settle(seat.pilot)
    assert [record["content"] for record in records(mail)].count("Once.") == 1


async def test_what_is_typed_while_a_slow_store_sends_is_said_not_to_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, may_send, send = write_talk(tmp_path), Event(), HaakStore.send

    def slow(self: HaakStore, draft: Draft) -> Message:
        assert may_send.wait(PATIENCE)
        return send(self, draft)

    monkeypatch.setattr(HaakStore, "send", slow)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await fill(seat, "ann-00000001", "A thought.")
        await seat.pilot.press("ctrl+s")
        await seat.pilot.press("X")
        await seat.until(lambda: "A thought.X" in seat.text)
        may_send.set()
        await seat.sees("On its way without your last")
        assert "A thought.X" in seat.text
        await seat.until(lambda: "1 draft" in seat.lines[0])
    assert records(mail)[-1]["content"] == "A thought."


@pytest.mark.parametrize("command", ["compose.send", "compose.discard"])
async def test_a_change_that_a_field_reports_late_brings_no_draft_back(command: str, tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data, state=tmp_path / "state.db") as seat:
        await fill(seat, "ann-00000001", "A thought.")
        await seat.screen.action_run(command)
        await seat.press(*("y" if command == "compose.discard" else ""))
        await seat.until(lambda: not seat.screen.composer.is_open)
        field = seat.screen.query_one("#to", Input)
        field.value += ":"
        await settle(seat.pilot)
        assert not seat.app.session.personal.draft_count
        await seat.until(lambda: "draft" not in seat.lines[0])


async def test_the_key_that_sends_does_not_overtake_those_typed_before(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await fill(seat, "ann-00000001", "Whol")
        for key in (Key("e", "e"), Key("full_stop", "."), Key("ctrl+s", None)):  # at once, as programs type
            seat.app.post_message(key)
        await seat.until(lambda: "5 messages" in seat.lines[0])
    assert records(mail)[-1]["content"] == "Whole."


async def test_what_was_typed_is_sent_to_the_message(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await fill(seat, "ann-00000001", "x")
        seat.screen.composer.set_body('  First\n\n\tsecond — 日本 👩‍🚀 [/] \\ "quoted"\n```py\nx\n```')
        await settle(seat.pilot)
        message = await sent(seat, mail, 5)
    assert message["content"] == '  First\n\n\tsecond — 日本 👩‍🚀 [/] \\ "quoted"\n```py\nx\n```'


async def test_a_draft_stays_with_its_thread_when_an_earlier_message_comes(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("late", "ann-00000001", "user", "And then?", ago=100, thread="middle", subject="Late")
    async with opened(mail.data) as seat:
        await seat.open_thread("middle")
        await seat.press("r", *"Then", "escape")
        mail.message("middle", "ann-00000001", "user", "Go on.", ago=200, thread="first")
        mail.message("first", "ann-00000001", "user", "Well.", ago=300, subject="First")
        await seat.until(lambda: seat.app.session.live.root_of("late") == "first")
        await seat.open_thread("first")
        await seat.press("r")
        await seat.sees("Then")
        assert [(draft.key, draft.body) for draft in seat.app.session.personal.drafts] == [("thread:middle", "Then")]
