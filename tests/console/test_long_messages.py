"""A long message is cut to a screenful and opened by a key; receipts are one line until they are unfolded."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.panes.receipts import receipt_lines
from console.screens import message_texts
from mailstore.rules.delivery import Standing, State
from tests.console.fake_screen import FakeScreen
from tests.console.screen_text import opened
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB = "ann-00000001", "bob-00000001"


def states(*found: State) -> list[tuple[str, Standing]]:
    return [
        (f"agent-{number}", Standing(state, is_lost=state in (DEAD, State.UNKNOWN)))
        for number, state in enumerate(found)
    ]


def receipts(*found: State, width: int = 60, is_unfolded: bool = False) -> list[str]:
    lines = receipt_lines(states(*found), width, FakeScreen.text_styles, 0.0, is_unfolded=is_unfolded)
    assert all(line.cell_length == width for line in lines)
    return [line.text.rstrip() for line in lines]


READ, UNREAD, FROZEN, DEAD = State.READ, State.UNREAD, State.FROZEN, State.DEAD


def test_several_recipients_are_counted_in_one_line() -> None:
    assert receipts(READ, READ, UNREAD, FROZEN) == ["✓ 2/4 · ○ 1 unread · ◐ 1 frozen"]
    assert receipts(READ, READ) == ["✓ 2/2"]
    assert receipts(UNREAD, UNREAD) == ["○ 2 unread"]
    assert receipts(State.UNRECORDED, State.UNRECORDED) == ["· 2 not recorded"]


def test_recipients_are_named_when_asked_for_and_where_one_is_dead_or_unknown() -> None:
    assert receipts(READ, FROZEN, is_unfolded=True) == [
        "✓ 1/2 · ◐ 1 frozen",
        "✓ read by agent-0",
        "◐ on hold, frozen: agent-1",
    ]
    assert receipts(READ, DEAD) == ["✓ 1/2 · ✕ 1 dead", "✓ read by agent-0", "✕ ended before reading: agent-1"]
    assert receipts(*[UNREAD] * 4, DEAD) == ["○ 4 unread · ✕ 1 dead", "✕ ended before reading: agent-4"]
    assert len(receipts(*[UNREAD] * 4, DEAD, is_unfolded=True)) == 3
    assert receipts(READ, State.UNKNOWN)[1:] == ["✓ read by agent-0", "? no agent named agent-1"]


def test_a_single_recipient_is_named_at_once() -> None:
    assert receipts(READ) == ["✓ read by agent-0"]
    assert receipts(DEAD) == ["✕ ended before reading: agent-0"]


@pytest.mark.parametrize("width", [16, 20, 24])
def test_the_line_of_counts_leaves_words_out_before_numbers(width: int) -> None:
    (line,) = receipts(READ, UNREAD, FROZEN, width=width)
    assert line.startswith("✓ 1/3 · ○ 1")
    assert "unread" not in line


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    for name in (ANN, BOB):
        mail.agent(name, tags=["project:ink"])
    words = "\n\n".join(f"Paragraph {number}." for number in range(100))
    mail.message("long", "user", "project:ink", words, ago=90, subject="An essay")
    mail.message("short", BOB, ANN, "Thank you.", ago=80, thread="long")
    mail.message("other", BOB, ANN, "Another matter.", ago=95)
    mail.read("long", BOB, ago=10)
    return mail


async def test_an_agent_that_ended_is_no_alarm_below_mail_to_its_channel(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.agent("ded-00000001", "dead", tags=["project:ink"], ended_at=iso(NOW - 30))
    mail.message("lost", ANN, "ded-00000001", "And you?", ago=70)
    async with opened(mail.data) as seat:
        styles = seat.screen.text_styles
        for root, words, tone in (
            ("long", "✕ 1 dead", styles.muted),
            ("lost", "ended before reading: ded-00000001", styles.states[DEAD]),
        ):
            await seat.open_thread(root)
            await seat.press("g")
            await seat.sees(words)
            assert "ended before reading" not in seat.text or root == "lost"
            segment = next(
                each
                for strip in seat.app.screen._compositor.render_strips()
                for each in strip
                if words.partition(":")[0] in each.text
            )
            assert segment.style is not None
            assert segment.style.color == tone.color, words


async def test_a_long_message_is_opened_by_a_key_and_stays_open(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("g")
        assert "more lines · +: open" in seat.text
        assert "✓ 1/2 · ○ 1 unread" in seat.text
        assert "Paragraph 99." not in seat.text
        hidden = int(seat.text.split(" more lines")[0].rsplit("⋯ ", 1)[1])
        shown = seat.text.count("Paragraph")
        assert shown + hidden // 2 + 1 >= 100
        await seat.press("j")
        assert "Thank you." in seat.text  # the next message is a step away
        await seat.press("k", "plus", "G")
        assert "Paragraph 99." in seat.text
        await seat.press("g")
        assert "more lines" not in seat.text
        await seat.press("plus")
        assert "more lines · +: open" in seat.text
        await seat.press("enter")
        await seat.open_thread("other")
        await seat.open_thread("long")
        await seat.press("g")
        assert "more lines" not in seat.text
        await seat.press("G")
        assert "Paragraph 99." in seat.text
        assert "○ unread by ann-00000001" in seat.text


async def test_space_opens_what_is_hidden_and_reads_on(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("g")
        seen = set()
        for _ in range(14):
            seen.update(line.split("Paragraph ")[1].split(".")[0] for line in seat.lines if "Paragraph " in line)
            await seat.press("space")
        assert {str(number) for number in range(100)} <= seen


async def test_a_line_that_is_hidden_is_revealed(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("g")
        lines = seat.screen.conversation.lines_of("long")
        assert lines is not None
        await seat.until(lambda: seat.screen.conversation.reveal("long", 150))
        await seat.sees("Paragraph 74.")
        assert "more lines" not in seat.text


async def test_a_click_on_the_last_line_of_a_cut_text_opens_it(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.open_thread("long")
        await seat.press("g")
        at = next(y for y, line in enumerate(seat.lines) if "more lines" in line)
        await seat.pilot.click(offset=(80, at))
        await seat.until(lambda: "more lines" not in seat.text)


async def test_copying_has_the_whole_text_or_none_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("g", "y")
        await seat.sees("Text copied")
        copied = seat.app.clipboard
        assert "Paragraph 99." in copied
        monkeypatch.setattr(message_texts, "MOST_COPIED", len(copied.encode()) - 1)
        seat.app.copy_to_clipboard("something else")
        await seat.press("y")
        await seat.sees("KiB are more than terminals take · |: pipe to a command")
        assert seat.app.clipboard == "something else"


async def test_a_small_screen_shows_less_and_a_resize_shows_more(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("g")
        before = seat.text.count("Paragraph")
        await seat.pilot.resize_terminal(120, 24)
        await seat.until(lambda: 0 < seat.text.count("Paragraph") < before)
        await seat.sees("more lines · +: open")
