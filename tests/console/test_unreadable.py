"""Every line that can't be read is listed with its file, its number and why, of one mailbox and of several."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from console.commands.command import Command
from console.commands.table import commands_for
from mailstore.errors import ContentGone
from mailstore.queries.raw_lines import raw_record
from mailstore.records.message import Problem
from tests.console.screen_text import Seat, opened, settle
from tests.console.shared_console import SharedConsole
from tests.kinds.mapped.foreign_mail import OVERSTORY, mapped, overstory
from tests.mailboxes import MailFiles

RAW = b'{"id": "torn", "sender": "\x1b[2Jann'


def write_mail(folder: Path, torn: int = 2) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    mail.message("one", "ann-00000001", "user", "The first word.", ago=500, subject="First")
    with mail.mailbox.open("ab") as file:
        file.writelines([RAW + b"\n"] * torn)
    mail.message("two", "ann-00000001", "user", "The second word.", ago=400, subject="Second")
    return mail


def text(seat: Seat) -> str:
    return " ".join(seat.text.replace("│", " ").split())


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_each_line_is_listed_with_file_number_reason_and_what_stands_there(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with opened(write_mail(tmp_path).data, size=size) as seat:
        assert "2 unreadable" in seat.lines[0]
        await seat.press("exclamation_mark")
        assert "Unreadable" in seat.lines[1]
        for number in (2, 3):
            assert f"agent-mailbox.jsonl:{number}" in seat.text
        assert '{"id": "torn", "sender": "␛[2Jann' in text(seat)
        assert "no JSON" in text(seat) or "JSON" in text(seat)
        await seat.press("escape")
        assert seat.app.screen is seat.screen


async def test_lines_of_an_archive_and_of_one_of_several_mailboxes_are_found_too(tmp_path: Path) -> None:
    first, second = write_mail(tmp_path / "a", torn=0), write_mail(tmp_path / "b", torn=1)
    months = second.data / "agent-mailbox-archive"
    months.mkdir()
    (months / "2026-01.jsonl.gz").write_bytes(gzip.compress(RAW + b"\n"))
    url = f"several:first=haak:{first.data}&second=haak:{second.data}"
    async with opened(url, state=tmp_path / "state.db") as seat:
        await seat.press("exclamation_mark")
        await seat.sees("second/agent-mailbox.jsonl:2")
        assert "first/" not in seat.text
        await seat.until(lambda: "␛[2Jann" in seat.text)


def test_a_row_of_a_database_is_no_line(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mail.db")) as database:
        database.execute("CREATE TABLE mail (id)")
        database.commit()
    with pytest.raises(ContentGone, match="has no lines"):
        raw_record(f"neo:{tmp_path / 'mail.db'}", Problem("mail.db", 7, 0, "torn"), 100)


def test_a_huge_line_is_counted_and_only_its_beginning_is_read(tmp_path: Path) -> None:
    data = tmp_path / "mail.jsonl"
    data.write_bytes(b"one\n" + b"x" * 3_000_000 + b"\nthree")
    url = f"haak:{tmp_path}"
    found = raw_record(url, Problem("mail.jsonl", 2, 4, "odd"), 1000)
    assert (found.data, found.size, found.is_longer) == (b"x" * 1000, 3_000_000, False)
    assert raw_record(url, Problem("mail.jsonl", 3, 3_000_005, "odd"), 1000).data == b"three"
    with pytest.raises(ContentGone, match="no such file"):
        raw_record(url, Problem("deleted.jsonl", 2, 4, "odd"), 1000)
    (tmp_path / "letter.md").write_bytes(b"From: ann\n\nA message of lines.\n")
    assert raw_record(url, Problem("letter.md", 1, 0, "odd"), 1000).data == b"From: ann\n\nA message of lines.\n"


async def test_the_bytes_are_shown_as_text_and_as_hex(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    with mail.mailbox.open("ab") as file:
        file.write(b'{"big": "' + b"\xff\x00" * 20_000 + b"\n")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.press("exclamation_mark")
        assert f"{len(RAW)} bytes" in text(seat)
        await seat.press("x")
        assert "7b 22 69 64 22 3a 20 22" in seat.text
        assert '7b 22 69 64 22 3a 20 22 {"id": "' in " ".join(text(seat).split())
        await seat.press("j", "j")
        assert "40,009 bytes, the first 16,384 shown" in text(seat)
        assert "22 ff 00 ff 00" in seat.text
        await seat.press("x")
        assert "\\xff␀\\xff␀" in seat.text


async def test_the_sidebar_has_a_row_while_something_is_unreadable(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path / "a").data) as seat:
        row = next(at for at, line in enumerate(seat.lines) if "│Unreadable" in line)
        assert seat.lines[row].split("││")[0].split() == ["│Unreadable", "2"]
        await seat.press("1", "g", *["j"] * (row - 2))
        assert "list what can't be read" in seat.text
        await seat.press("enter")
        assert "Unreadable" in seat.lines[1]
    async with opened(write_mail(tmp_path / "b", torn=0).data) as seat:
        assert "Unreadable" not in seat.text


async def test_a_mailbox_of_which_nothing_can_be_read_is_not_called_empty(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.line(b"this is no record\n")
    async with opened(mail.data) as seat:
        await seat.sees("No mail here can be read.")
        assert "empty" not in seat.text
        await seat.press("!")
        assert "Unreadable" in seat.lines[1]


async def test_a_row_of_a_database_is_shown(tmp_path: Path) -> None:
    database = overstory(tmp_path)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE messages SET body = CAST(x'6fff6b' AS TEXT) WHERE rowid = 2")
        connection.commit()
    url = f"several:one=mapped:{mapped(tmp_path, OVERSTORY)}&two=haak:{write_mail(tmp_path / 'b').data}"
    async with opened(url, size=(160, 50), state=tmp_path / "state.db") as seat:
        await seat.press("exclamation_mark", "G")
        assert "invalid UTF-8" in seat.text
        assert "o\\xffk" in seat.text


async def test_a_click_on_the_number_opens_the_list(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.pilot.click(offset=(seat.lines[0].index("2 unreadable") + 3, 0))
        await settle(seat.pilot)
        assert "Unreadable" in seat.lines[1]


async def test_a_mailbox_in_order_says_so(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path, torn=0).data) as seat:
        assert "unreadable" not in seat.lines[0]
        await seat.press("exclamation_mark")
        assert "Everything can be read." in seat.text


async def test_a_line_that_comes_later_is_listed_too_and_the_cursor_stays(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.press("exclamation_mark", "j")
        with mail.mailbox.open("ab") as file:
            file.write(b"[torn\n")
        await seat.sees("agent-mailbox.jsonl:5")
        await seat.until(lambda: "␛[2Jann" in seat.text)


def write_long_lines(folder: Path) -> Path:
    mail = write_mail(folder, torn=60)
    with mail.mailbox.open("ab") as file:
        for line in mail.mailbox.read_bytes().splitlines()[1:3]:
            file.write(line + b" " + b"x " * 4000 + b"\n")
    return mail.data


async def press_in(command: Command, seat: Seat) -> None:
    await seat.press("exclamation_mark", "g", *["j"] * 3)
    if "scroll" in command.id:
        await seat.press("G", "J", "J")
    before = seat.lines, len(seat.app.screen_stack)
    await seat.press(command.keys.partition(",")[0])
    assert (seat.lines, len(seat.app.screen_stack)) != before, f"{command.keys} ({command.help}) did nothing"


async def test_every_advertised_key_does_something(tmp_path: Path) -> None:
    async with SharedConsole(write_long_lines, tmp_path) as console:
        for command in (it for it in commands_for("unreadable") if it.keys):
            await console.attempt(partial(press_in, command))
