"""A thread of thousands, and messages as long as books: all of it can be read, and stays where it is."""

from __future__ import annotations

from pathlib import Path

from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    return mail


async def test_a_thread_of_thousands_is_read_from_end_to_end(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("m-0", "ann-00000001", "bob-00000001", "Where it began.", ago=5000, subject="Long talk")
    for number in range(1, 2000):
        above = f"m-{number - 1}" if number % 3 else "m-0"
        words = f"Answer {number}." + "\n\nmore" * (number % 7)
        mail.message(f"m-{number}", "bob-00000001", "ann-00000001", words, ago=5000 - number, thread=above)
    async with opened(mail.data) as seat:
        await seat.open_thread("m-0")
        assert "Where it began." in seat.text
        await seat.press("G")
        assert "Answer 1999." in seat.text
        await seat.press("pageup", "k", "k")
        before = [line[64:-6] for line in seat.lines[2:-3]]
        mail.message("new", "bob-00000001", "ann-00000001", "The newest.", ago=0, thread="m-1000")
        await seat.sees("2001 messages")
        assert [line[64:-6] for line in seat.lines[2:-3]] == before
        seat.screen.conversation.scroll_to_key("m-1000")
        await seat.press("j", "j")
        assert "The newest." in seat.text
        await seat.press("g")
        assert "Where it began." in seat.text


async def test_replies_are_folded_and_counted_where_there_are_many(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("top", "ann-00000001", "bob-00000001", "All below.", ago=900, subject="Folded")
    for number in range(300):
        mail.message(f"r-{number}", "bob-00000001", "ann-00000001", f"Reply {number}.", ago=800 - number, thread="top")
    async with opened(mail.data) as seat:
        await seat.open_thread("top")
        await seat.press("g", "left")
        assert "300 replies folded" in seat.text
        mail.message("late", "bob-00000001", "ann-00000001", "Late.", ago=0, thread="r-7")
        await seat.sees("301 replies folded")
        await seat.press("right")
        assert "Reply 0." in seat.text


async def test_every_line_of_a_megabyte_can_be_reached(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    lines = [f"Line {number} of a log that somebody sent" for number in range(25_000)]
    mail.message("log", "ann-00000001", "bob-00000001", "\n".join(lines), ago=90, subject="A log")
    mail.message("thanks", "bob-00000001", "ann-00000001", "Thank you.", ago=80, thread="log")
    async with opened(mail.data) as seat:
        await seat.open_thread("log")
        await seat.sees("Line 0 of a log")
        view = seat.screen.conversation
        await seat.sees("more lines · +: open")
        await seat.press("plus")
        await seat.until(lambda: view.max_scroll_y > len(lines) - 100)
        for number in (12_345, 24_990):
            view.scroll_to(y=number, animate=False)
            await seat.sees(f"Line {number} of a log")
        await seat.press("G")
        assert "Line 24999 of a log" in seat.text
        assert "Thank you." in seat.text


async def test_what_became_of_a_long_message_is_told_below_it_when_it_changes(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    words = "\n\n".join(f"Paragraph {number} of *many*." for number in range(1200))
    mail.message("long", "ann-00000001", "bob-00000001", words, ago=90, subject="An essay")
    async with opened(mail.data) as seat:
        await seat.open_thread("long")
        await seat.press("2", "3")
        view = seat.screen.conversation
        await seat.sees("more lines · +: open")
        await seat.press("plus")
        await seat.until(lambda: view.max_scroll_y > 2300)
        view.scroll_to(y=view.max_scroll_y, animate=False)
        await seat.sees("unread by bob-00000001")
        assert "Paragraph 1199 of many." in seat.text
        mail.read("long", "bob-00000001", ago=1)
        await seat.sees("read by bob-00000001")
        assert "Paragraph 1199 of many." in seat.text


async def test_a_conversation_is_indented_only_where_it_forks(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("r", "ann-00000001", "bob-00000001", "The root.", ago=900, subject="A long chain")
    above = "r"
    for number in range(1, 10):
        words = f"Link {number}."
        above = mail.message(f"c-{number}", "bob-00000001", "ann-00000001", words, ago=900 - number, thread=above)
    mail.message("left", "ann-00000001", "bob-00000001", "One end.", ago=300, thread="c-9")
    mail.message("right", "bob-00000001", "ann-00000001", "Another end.", ago=200, thread="c-9")
    mail.message("last", "ann-00000001", "bob-00000001", "And on.", ago=100, thread="right")

    async with opened(mail.data) as seat:
        await seat.open_thread("r")
        at = [next(line for line in seat.lines if f"Link {number}." in line).index("Link") for number in range(1, 8)]
        assert len(set(at)) == 1
        await seat.press("G")
        columns = {
            words: next(line for line in seat.lines if words in line).index(words)
            for words in ("Link 9.", "One end.", "Another end.", "And on.")
        }
        assert columns["Link 9."] == at[0]
        assert columns["One end."] == columns["Another end."] == columns["And on."] == at[0] + 2
        heads = [line for line in seat.lines if "├ " in line]
        assert len(heads) == 2  # both ends begin there; what follows one of them goes on below it
        await seat.press("k", "k", "h")
        assert seat.screen.conversation.cursor_key == "c-9"
        await seat.press("l")
        assert seat.screen.conversation.cursor_key == "left"
        await seat.press("h", "h", "h")  # folds what follows, then goes up
        assert seat.screen.conversation.cursor_key == "c-8"
        await seat.press("l")
        assert seat.screen.conversation.cursor_key == "c-9"
