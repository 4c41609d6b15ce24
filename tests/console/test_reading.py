"""Reading: what the person has seen is their own affair, and looking changes nothing in the mailbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.settings.config import Config, RetentionSettings
from console.state.personal_state import PersonalState
from mailstore.state.views import View
from tests.console.screen_text import opened, settle
from tests.mailboxes import HOUR, MailFiles, damaged, every_case

HOSTILE = ["[/]", "[bold", "[red]x[/red]", "[@click=app.quit]q[/]", "$accent", "\x1b[2J\x07", "a\u202eb", "\\[", "{0}"]


def write_talk(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", tags=["project:ink"])
    mail.agent("bob-00000001", tags=["project:ink"])
    mail.message("q", "ann-00000001", "bob-00000001", "Which colour?", ago=500, subject="The colour")
    mail.message("a", "bob-00000001", "ann-00000001", "Blue, then.", ago=400, thread="q")
    mail.message("why", "ann-00000001", "bob-00000001", "Why blue?", ago=300, thread="a")
    mail.message("you", "bob-00000001", "user", "May I?", ago=200, subject="A question to you")
    mail.message("ch", "bob-00000001", "project:ink", "To the channel.", ago=100, subject="In the channel")
    return mail


def contents(mail: MailFiles) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the times of all files of a mailbox."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in mail.data.iterdir() if path.is_file()}


def seen(path: Path, mail: MailFiles) -> set[str]:
    state = PersonalState(path)
    try:
        return set(state.seen(f"haak:{mail.mailbox.resolve()}")[0])
    finally:
        state.close()


async def test_recent_stands_in_the_sidebar_where_a_retention_is_set(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("old", "ann-00000001", "all", ago=9 * 24 * HOUR, subject="Long ago")
    mail.message("new", "ann-00000001", "all", ago=60, subject="Just now")
    async with opened(mail.data, config=Config(retention=RetentionSettings(days=7.0))) as seat:
        await seat.press("1")
        while seat.screen.location.view.kind != "recent":
            await seat.press("k")
        assert "─ Recent ─" in seat.text
        assert "Just now" in seat.text
        assert "Long ago" not in seat.text
    async with opened(mail.data) as seat:
        assert "Recent" not in seat.text


async def test_opening_a_thread_marks_it_as_mine_and_leaves_every_byte_of_the_mailbox(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    before = contents(mail)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.open_thread("q")
        await seat.press("j", "j")
        assert not seat.screen.session.mailbox.summary("q").unseen
    assert seen(tmp_path / "state.db", mail) == {"q", "a", "why"}
    assert contents(mail) == before


async def test_walking_through_everything_leaves_agents_mail_as_it_was(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    mine = [path.name for path in (mail.reads,)]
    before = contents(mail)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        for _ in range(45):
            await seat.press("n")
        assert seat.notice == "Nothing unread here"
    after = contents(mail)
    assert {name: after[name] for name in before if name not in mine} == {
        name: before[name] for name in before if name not in mine
    }
    added = [json.loads(line) for line in mail.reads.read_bytes()[len(before[mail.reads.name][0]) :].splitlines()]
    assert {record["reader_session_id"] for record in added} == {"user"}
    assert "direct-unread" not in {record["message_id"] for record in added}


async def test_mail_to_the_user_gets_one_read_record_by_the_user(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.open_thread("you")
        await seat.press("u", "u", "escape", "enter")
    records = [json.loads(line) for line in mail.reads.read_text().splitlines()]
    assert [(record["message_id"], record["reader_session_id"]) for record in records] == [("you", "user")]


async def test_who_only_observes_writes_no_record(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    before = contents(mail)
    async with opened(mail.data, state=tmp_path / "state.db", observe=True) as seat:
        assert "observing" in seat.lines[0]
        await seat.open_thread("you")
        await seat.press("c")
        assert "nothing is written" in seat.notice
    assert contents(mail) == before


async def test_what_was_seen_is_seen_when_the_console_is_opened_again(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert "5 new" in seat.lines[0]
        await seat.open_thread("q")
        await seat.press("2", "A")
        assert "2 new" in seat.lines[0]
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert "2 new" in seat.lines[0]


async def test_a_mark_can_be_taken_back(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.open_thread("ch")
        assert "4 new" in seat.lines[0]
        await seat.press("u")
        assert "5 new" in seat.lines[0]
    assert seen(tmp_path / "state.db", mail) == set()


async def test_a_joined_channel_tells_its_senders_that_it_was_read(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("1")
        seat.screen.show_view(View("channel", "project:ink"))
        await settle(seat.pilot)
        await seat.screen.action_run("channel.join")
        await settle(seat.pilot)
        await seat.press("enter")
    assert [json.loads(line)["message_id"] for line in mail.reads.read_text().splitlines()] == ["ch"]


async def test_next_and_previous_unread_go_through_all_of_it(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        visited = []
        for _ in range(6):
            await seat.press("n")
            visited.append(seat.screen.conversation.cursor_key)
        assert set(visited) == {"q", "a", "why", "you", "ch"}
        assert "0 new" not in seat.lines[0]
        assert "new" not in seat.lines[0]


async def test_previous_unread_goes_up_the_list(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("q")
        await seat.press("A", "N")
        assert seat.screen.conversation.cursor_key == "you"


async def test_space_reads_everything_in_turn(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        for _ in range(12):
            await seat.press("space")
        assert "new" not in seat.lines[0]


async def test_undo_takes_back_what_was_read_in_one_place_and_reading_on_there_leaves_it(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("you")
        await seat.press("escape")
        await seat.open_thread("q")
        await seat.press("j", "j")
        assert "1 new" in seat.lines[0]
        await seat.press("z")
        assert seat.notice == "Undone: 3 messages read"
        assert "4 new" in seat.lines[0]
        await seat.press("k", "j")
        assert "4 new" in seat.lines[0]
        await seat.press("escape")
        await seat.open_thread("q")
        assert "3 new" in seat.lines[0], "it was opened anew"


async def test_what_was_done_on_purpose_is_undone_before_what_was_read_earlier_or_with_it(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("ch")
        await seat.press("A")
        assert "3 new" in seat.lines[0], "the next thread was opened"
        await seat.press("u", "z")
        assert seat.notice == "Undone: 1 message marked as unseen"


async def test_only_unread_keeps_what_was_just_read_until_it_is_left(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("ch")
        await seat.press("escape", "U")
        assert "In the channel" not in "\n".join(line[26:64] for line in seat.lines)
        await seat.open_thread("you")
        assert "A question to you" in "\n".join(line[26:64] for line in seat.lines)
        await seat.press("escape", "U", "U")
        assert "A question to you" not in "\n".join(line[26:64] for line in seat.lines)


async def test_who_read_it_and_who_did_not_and_why_stands_under_a_message(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        for root, words in {
            "direct-read": "✓ read by ann-00000001",
            "tag-with-dead": "✕ 1 dead",
            "role-waiting": "… on hold: lamp",
            "tag-unread": "◐ 1 frozen",
            "name-unknown": "? no agent named nobody",
            "direct-expired": "◌ expired, not read by ann-00000001",
        }.items():
            await seat.open_thread(root)
            assert words in seat.text, root


async def test_mail_that_arrives_is_shown_and_moves_nothing(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    for number in range(60):
        mail.message(f"m-{number}", "ann-00000001", "bob-00000001", f"Number {number}.", ago=90000 + number)
    async with opened(mail.data) as seat:
        await seat.open_thread("m-30")
        before = seat.lines
        mail.message("new", "bob-00000001", "ann-00000001", "Just now.", ago=0, subject="The newest")
        await seat.until(lambda: "66 messages" in seat.lines[0])
        await settle(seat.pilot)
        column = [line[26:62] for line in seat.lines[1:-2]]
        assert column == [line[26:62] for line in before[1:-2]]
        assert seat.screen.conversation.cursor_key == "m-30"
        assert "1 new above" in seat.lines[-2]
        await seat.press("escape", "g")
        assert "new above" not in seat.lines[-2]


async def test_an_answer_to_the_thread_that_is_read_is_announced_below(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    long = "\n\n".join(f"Paragraph {number}" for number in range(40))
    mail.message("long", "ann-00000001", "bob-00000001", long, ago=50, subject="Long")
    mail.message("first", "bob-00000001", "ann-00000001", "Well.", ago=40, thread="long")
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        before = [line[64:-6] for line in seat.lines[1:-2]]
        mail.message("reply", "bob-00000001", "ann-00000001", "Indeed.", ago=0, thread="long")
        await seat.sees("1 new below")
        assert [line[64:-6] for line in seat.lines[2:-3]] == before[1:-1]


@pytest.mark.parametrize("words", HOSTILE)
async def test_nothing_that_a_mailbox_holds_is_obeyed_by_the_console(words: str, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent(f"ann{words}", role=words, tags=[f"project:{words}"])
    mail.message("m", f"ann{words}", [f"project:{words}", words, "user"], words, subject=words, type=words)
    async with opened(mail.data) as seat:
        await seat.open_thread("m")
        assert "\x1b" not in seat.text
        await seat.press("i")
        await seat.press("escape", "o")
        await seat.press("escape", "r")
        await seat.press("escape", "1", "G", "2", "c")
        await seat.press("escape", "colon")
        await seat.press("escape")
        assert seat.app.return_code is None
        assert seat.app.screen is seat.screen


async def test_a_damaged_mailbox_is_shown_and_says_what_is_unreadable(tmp_path: Path) -> None:
    async with opened(damaged(tmp_path).data) as seat:
        assert "4 messages" in seat.lines[0]
        assert "unreadable" in seat.text


async def test_an_empty_mailbox_says_how_to_begin(tmp_path: Path) -> None:
    async with opened(MailFiles(tmp_path).data) as seat:
        await seat.sees("This mailbox is empty.")
        await seat.press("j", "k", "enter", "n", "space", "r", "u", "A", "i", "o", "y", "G", "t", "F", "l", "h")
        assert seat.app.return_code is None


async def test_mail_to_the_person_says_whether_it_was_answered(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    mail.message("ask", "ann-00000001", "user", "Which one?", ago=90, subject="Open", type="question")
    mail.message("asked", "ann-00000001", "user", "And this?", ago=80, subject="Settled", type="question")
    mail.message("told", "user", "ann-00000001", "That.", ago=70, thread="asked")
    async with opened(mail.data) as seat:
        await seat.press("1", "g", "j", "2")
        assert "✓ answered · ann-00000001" in seat.text
        assert "○ waiting for your answer · ann-" in seat.text


async def test_what_a_mailbox_says_besides_is_seen_and_warnings_stand_out(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.message("m", "ann-00000001", "user", "Hello.", tags=["priority:high", "!the key changed\x1b[2J", "ticket:7"])
    async with opened(mail.data) as seat:
        await seat.open_thread("m")
        await seat.sees("◇ priority:high · ticket:7")
        await seat.sees("⚠ the key changed␛[2J")
