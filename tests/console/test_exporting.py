"""Exporting what is in sight, or what is marked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    for number in range(3):
        mail.message(f"m-{number}", "ann-00000001", "bob-00000001", "A text.", ago=60 + number, subject=f"T {number}")
    mail.message("r-0", "bob-00000001", "ann-00000001", "An answer.", ago=30, thread="m-0")
    return mail


async def test_the_thread_in_sight_is_exported_and_a_file_that_is_there_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("x")
        assert "Export “T 0”, 2 messages, to" in seat.text
        await seat.press("ctrl+u", *"out.txt", "enter")
        assert "The file name must end in" in seat.text
        await seat.press("ctrl+u")
        await seat.paste(str(target))
        await seat.press("enter")
        await seat.until(target.exists)
        await seat.sees("Exported to ")
        assert [it["id"] for it in json.loads(target.read_text())["messages"]] == ["m-0", "r-0"]
        await seat.press("x", "ctrl+u")
        await seat.paste(str(target))
        await seat.press("enter")
        assert "already exists" in " ".join(seat.text.replace("│", " ").split())


async def test_marked_threads_are_exported_together(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("v", "v", "x")
        assert "Export 2 threads, 3 messages, to" in seat.text
        await seat.press("ctrl+u")
        await seat.paste(str(target))
        await seat.press("enter")
        await seat.until(target.exists)
        assert target.read_text().count("<article") == 3
