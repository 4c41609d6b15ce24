"""A message's text given to a command of the person's."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from console.screens.message_texts import printed_by
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE

TEXT = "b; rm -rf $HOME `id`\na\x1b[2J[/]"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.message("m", "ann-00000001", "bob-00000001", TEXT, ago=60, subject="Lines")
    return mail


async def test_the_output_is_shown_and_obeyed_by_nobody(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.press(*"sort", "enter")
        await seat.sees("─ sort ─")
        text = seat.text
        assert text.index("a␛[2J[/]") < text.index("b; rm -rf $HOME `id`")


async def test_a_command_that_fails_or_is_not_there_is_told(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.press(*"test -f 'no", "enter")
        assert "Can't read it" in seat.text
        await seat.press(*"thing'", "enter")
        await seat.sees("─ Status 1 · test -f")
        assert "(no output)" in seat.text
        await seat.press("escape", "vertical_line", *["backspace"] * 20)
        await seat.press(*"nowhere-to-be-found", "enter")
        await seat.sees("Can't run nowhere-to-be-found")


async def test_what_a_command_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    left = tmp_path / "left"
    script = f"sleep 1000 & echo $! > {left}; echo It is in the clipboard."
    printed, status = await printed_by(["sh", "-c", script], b"")
    os.kill(int(left.read_text()), signal.SIGKILL)
    assert (printed, status) == (b"It is in the clipboard.\n", 0)


@pytest.mark.parametrize("word", ["", "many words " * 20], ids=["lines", "bytes"])
async def test_a_command_that_prints_without_end_is_ended(word: str, tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    endless.write_text(f"#!/bin/sh\nwhile echo '{word}'; do :; done\n")
    endless.chmod(0o755)
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.paste(str(endless))
        await seat.press("enter")
        await seat.sees("─ Only the beginning · /")


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_a_command_that_does_not_end_is_ended_with_what_it_started(
    is_cancelled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.screens.message_texts.SECONDS", PATIENCE if is_cancelled else 0.5)
    held = tmp_path / "held"
    os.mkfifo(held)
    script = f"exec 3> {held}; echo Begun. >&3; sleep 1000 & sleep 1000"
    running = asyncio.create_task(printed_by(["sh", "-c", script], b""))
    with await asyncio.to_thread(held.open) as pipe:
        assert await asyncio.to_thread(pipe.readline) == "Begun.\n"
        if is_cancelled:
            running.cancel()
        with pytest.raises(asyncio.CancelledError if is_cancelled else TimeoutError):
            await running
        assert await asyncio.to_thread(pipe.read) == ""  # nobody has it open any more
