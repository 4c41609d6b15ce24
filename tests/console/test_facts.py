"""What is told of one thing: long values go on below where they begin, lists are read out, texts are rendered."""

from __future__ import annotations

from pathlib import Path

from console.panes.sidebar import Sidebar
from console.render.short_text import clock
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened
from tests.console.test_journal import note
from tests.mailboxes import NOW, MailFiles, every_case

SUBJECT = "A subject that goes on and on, far beyond the end of any line of the page in which it is told of"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.message("mine", "user", "ann-00000001", "**Stop** that.\n\n- one\n- two", ago=300, subject=SUBJECT)
    return mail


def page(seat: Seat, left: str) -> list[str]:
    """Return the lines below the one with a label, from the label's column on, without the frame."""
    rows = seat.lines
    at = next(at for at, line in enumerate(rows) if left in line)
    begin = rows[at].index(left)
    return [line[begin:].rstrip("│ ") for line in rows[at : at + 4]]


async def test_a_long_detail_goes_on_below_where_it_begins(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(80, 30)) as seat:
        await seat.press("i")
        first, second, *_ = page(seat, "subject  ")
        assert first.startswith("subject  A subject")
        assert second.startswith("         ")
        assert " ".join([first.removeprefix("subject  "), second.strip()]) == SUBJECT


async def test_what_became_of_every_message_is_told(tmp_path: Path) -> None:
    mail, expected = every_case(tmp_path)
    shown = set()
    async with opened(mail.data, observe=True) as seat:
        seat.screen.threads.focus()
        for root in seat.app.session.mailbox.threads(View("all")):
            assert seat.screen.threads.cursor_key == root
            await seat.press("i")
            told = seat.text
            assert root in told
            for name, state in expected[root].items():
                assert f"{name}: {state}" in told, root
            shown.add(root)
            await seat.press("i", "j")
    assert shown == set(expected)


async def test_a_channel_says_how_far_its_members_have_read(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for name, status in (("ann-00000001", "living"), ("bob-00000001", "living"), ("eve-00000001", "frozen")):
        mail.agent(name, status, tags=["project:ink"])
    for number in range(3):
        mail.message(f"m{number}", "ann-00000001", "project:ink", f"Part {number}", ago=180 - 60 * number)
    mail.read("m1", "bob-00000001")
    async with opened(mail.data, size=(100, 30)) as seat:
        seat.screen.show_view(View("channel", "project:ink"))
        await seat.press("1", "i")
        await seat.sees("╭─ Channel")
        assert "channel  #ink · project:ink" in seat.text
        assert "readers  3, 2 with unread messages" in seat.text
        oldest, between = (clock(NOW - ago, NOW) for ago in (180, 120))
        assert f"● bob-00000001  {between} · 2 unread, the oldest of {oldest}" in seat.text
        assert f"◐ eve-00000001  nothing · 3 unread, the oldest of {oldest} · frozen" in seat.text
        assert "● ann-00000001  everything" in seat.text


async def test_the_journal_reads_lists_out_and_renders_the_text(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    details = {"recipients": ["ann-00000001", "bob-00000001"], "thread": None, "count": 2, "by": {"role": "clerk"}}
    note(mail, "one", "intervene", 300, message_id="mine", details=details, note="word " * 40)
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("L")
        text = " ".join(line[72:].strip("│ ") for line in seat.lines)
        assert "recipients ann-00000001, bob-00000001" in " ".join(text.split())
        assert "role: clerk" in text
        for raw in ("[", '"', "**", "null", "- one"):
            assert raw not in text, raw
        assert "• one" in text
        assert "Stop that." in text
        lines = page(seat, "note  ")
        assert all(line.startswith("      word") for line in lines[1:3])


async def test_dead_letters_render_the_text_too(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.agent("ded-00000001", "dead")
    mail.message("dead", "ann-00000001", "ded-00000001", "A **bold** word.", ago=100, subject=SUBJECT)
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D")
        assert "A bold word." in seat.text


async def test_what_is_told_of_a_message_an_agent_and_a_channel_keeps_up_with_the_mail(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.agent("ann-00000001", tags=["project:ink"])
    mail.message("part", "user", "project:ink", "Part 1", ago=200)
    async with opened(mail.data, size=(80, 18)) as seat:
        seat.screen.threads.select("mine")
        await seat.press("i")
        await seat.sees("╭─ Details")
        await seat.press("G")
        page = seat.app.screen.page  # type: ignore[attr-defined]
        scrolled = page.scroll_offset.y
        assert scrolled > 0
        await seat.sees("ann-00000001: unread")
        mail.read("mine", "ann-00000001")
        await seat.sees("ann-00000001: read")
        assert page.scroll_offset.y == scrolled
        await seat.press("escape", "1")
        seat.screen.sidebar.select(Sidebar.key_of(View("agent", "ann-00000001")))
        await seat.press("i")
        await seat.sees("unread  1")
        mail.message("more", "user", "ann-00000001", "More.", ago=10)
        await seat.sees("unread  2")
        await seat.press("escape")
        seat.screen.show_view(View("channel", "project:ink"))
        await seat.press("1", "i")
        await seat.sees("readers  1, 1 with unread messages")
        mail.read("part", "ann-00000001")
        await seat.sees("readers  1, none with unread messages")
        viewer = seat.app.screen
        mail.message("late", "user", "project:ink", "Part 2", ago=5)
        await seat.press("escape")
        await seat.until(lambda: "late" in seat.app.session.mailbox)
        assert viewer not in seat.app.screen_stack
