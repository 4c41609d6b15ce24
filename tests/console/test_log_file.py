"""The console's log: what failed and where, and nothing of anybody's mail."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from pathlib import Path

import pytest

from console.errors import Refused
from console.running.log_file import MOST_BYTES, LogFile
from mailstore.errors import log_step, log_unexpected
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

SECRET = "the vault is behind the mirror"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("m1", "ann", "user", SECRET)
    return mail


def crash() -> None:
    raise LookupError(SECRET)


async def fail() -> None:
    raise LookupError(SECRET) from ValueError(SECRET)


async def test_a_failure_is_logged_with_its_place_and_without_its_words(mail: MailFiles, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "console.log"
    async with opened(mail.data, log=log) as seat:
        await seat.until(lambda: seat.app._log_file)
        assert not log.exists()  # nothing has failed
        seat.screen.run_task(fail(), group="send")
        await seat.sees(SECRET)  # the user reads it
    told = log.read_text()
    assert "ERROR worker fail of group send\n  LookupError\n" in told
    assert "console/test_log_file.py:" in told
    assert " fail\n  ValueError" in told
    assert "vault" not in told
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_what_ends_the_console_is_logged(mail: MailFiles, tmp_path: Path) -> None:
    log = tmp_path / "console.log"

    async def run_until_it_crashes() -> None:
        async with opened(mail.data, log=log) as seat:
            await seat.until(lambda: seat.app._log_file)
            seat.app.call_later(crash)
            while seat.app.is_running:
                await asyncio.sleep(0)

    with pytest.raises(LookupError):
        await run_until_it_crashes()
    assert "ERROR the console crashed\n  LookupError\n" in log.read_text()
    assert "crash" in log.read_text()
    assert "vault" not in log.read_text()


async def test_a_log_for_a_report_names_commands_and_surroundings(mail: MailFiles, tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    async with opened(mail.data, log=log, logs_commands=True) as seat:
        await seat.until(lambda: seat.app._log_file)
        await seat.press("slash", *"vault", "enter")
    told = log.read_text()
    assert "120 x 40 cells" in told
    assert "mailbox of kind haak" in told
    assert "DEBUG search" in told
    assert "vault" not in told


def test_what_other_libraries_log_is_named_and_not_quoted(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log", logs_commands=False)
    logging.getLogger("asyncio").error("Task exception was never retrieved: %s", SECRET)
    log_step("a step")
    log.close()
    assert (tmp_path / "log").read_text().endswith(" ERROR logged by asyncio\n")
    assert (tmp_path / "log").read_text().count("\n") == 1


def test_an_error_with_a_code_is_logged_by_it_and_not_by_its_words(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "log", logs_commands=False)
    log_unexpected(Refused(f"{SECRET} is dead", "open another", "E195"), "a deed")
    log.close()
    assert (tmp_path / "log").read_text().endswith(" ERROR a deed\n  Refused E195\n")


def test_a_long_log_is_replaced_and_older_ones_kept(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("x" * MOST_BYTES)
    log = LogFile(tmp_path / "log", logs_commands=False)
    log_unexpected(KeyError(SECRET), "testing")
    log.close()
    assert (tmp_path / "log").read_text().endswith(" ERROR testing\n  KeyError\n")
    assert (tmp_path / "log.1").stat().st_size == MOST_BYTES
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


@pytest.mark.parametrize("place", ["fifo", "folder", "below a file"])
def test_a_log_that_cannot_be_written_ends_nothing(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = tmp_path / "log", tmp_path / "other"
    other.write_text("kept")
    if place == "fifo":
        os.mkfifo(path)
    elif place == "folder":
        path.mkdir()
    else:
        path = other / "log"
    log = LogFile(path, logs_commands=False)
    log_unexpected(KeyError(), "testing")
    log.close()
    assert other.read_text() == "kept"
    assert capsys.readouterr() == ("", "")


def test_without_a_log_nothing_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log_unexpected(KeyError(), "testing")
    log_step("a step")
    assert capsys.readouterr() == ("", "")
