"""What a console does otherwise where a page in a browser is its terminal, and what it refuses to guests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pytest
from textual.app import App

from console.app import SignalboxApp
from console.browser.driver import packets
from console.browser.guest import guest_config, guest_state
from console.browser.place import FULL, READ_ONLY, VARIABLE
from console.settings.config import Config, NotificationSettings, state_file
from tests.console.screen_text import opened
from tests.console.test_attachments import NOW, mail
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.mailboxes import MailFiles

__all__ = ["mail"]


class AskedPage:
    """What the page was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.opened: list[str] = []
        self.written: list[str] = []


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AskedPage:
    asked = AskedPage()

    def deliver(self: App[Any], file: BinaryIO, *, save_filename: str, mime_type: str) -> None:
        with file:
            asked.files[save_filename] = file.read()

    monkeypatch.setenv(VARIABLE, FULL)
    monkeypatch.setattr(App, "deliver_binary", deliver)
    monkeypatch.setattr(App, "open_url", lambda self, url, new_tab: asked.opened.append(url))
    monkeypatch.setattr(SignalboxApp, "write_to_terminal", lambda self, text: asked.written.append(text))
    return asked


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.message("one", "ann-00000001", "user", "See https://b.example/two", subject="Links")
    return mail


async def test_an_export_is_a_download_under_a_plain_name(tmp_path: Path, page: AskedPage) -> None:
    mail = write_mail(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    async with opened(mail.data) as seat:
        await seat.press("x", "ctrl+u")
        await seat.paste(f"{tmp_path}/out.html")
        await seat.press("enter")
        await seat.sees("without a folder")
        await seat.press("ctrl+u", *"out.html", "enter")
        await seat.until(lambda: seat.notice == "Downloaded out.html")
        assert b"https://b.example/two" in page.files["out.html"]
    assert [path for path in sorted(tmp_path.rglob("*.html")) if path not in before] == []


async def test_attached_files_are_downloads_also_those_that_are_never_opened(
    tmp_path: Path, page: AskedPage, mail: AgentAZAllMail
) -> None:
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW) as seat:
        await seat.open_thread("m")
        await seat.press("X")
        await seat.sees("4 files")
        await seat.press("G", "enter")
        await seat.until(lambda: seat.notice == "Downloaded: run.desktop")
        await seat.press("X")
        await seat.sees("4 files")
        await seat.press("S")
        await seat.until(lambda: len(page.files) == 3)
    assert page.files["report.txt"] == b"A report.\n"
    assert all(name.isprintable() and "/" not in name for name in page.files)


async def test_a_link_opens_in_the_browser_and_the_tab_is_titled(tmp_path: Path, page: AskedPage) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("one")
        await seat.press("b", "enter", "y")
        await seat.until(lambda: page.opened == ["https://b.example/two"])
        await seat.until(lambda: "\x1b]2;data/agent-mailbox.jsonl · Signalbox\x07" in page.written)
    titles = [text for text in page.written if text.startswith("\x1b]2;")]
    assert titles[0].startswith("\x1b]2;(1) ")
    assert "\x1b]11;#" in "".join(page.written)


async def test_the_help_says_what_a_browser_does_with_keys(tmp_path: Path, page: AskedPage) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("question_mark", *"ctrl+w")
        await seat.sees("In the browser")
        assert "ctrl+backspace and alt+backspace" in seat.text


async def test_an_editor_is_not_started(tmp_path: Path, page: AskedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "touch")
    mail = write_mail(tmp_path)
    mail.agent("ann-00000001")
    async with opened(mail.data) as seat:
        await seat.press("r")
        await seat.press("ctrl+e")
        await seat.sees("touch needs a terminal")


async def test_a_guest_pipes_to_no_program(tmp_path: Path, page: AskedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, READ_ONLY)
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("vertical_line")
        await seat.until(lambda: seat.notice.startswith("Not piped: not from a read-only link"))


def test_a_guest_has_a_state_of_their_own_and_none_of_the_commands(tmp_path: Path) -> None:
    ways = NotificationSettings(to_me=["toast", "desktop"], channel=["command", "osc9"], command="touch x")
    config = guest_config(Config(notifications=ways))
    assert config.observe
    assert (config.notifications.to_me, config.notifications.channel) == (["toast"], ["osc9"])
    assert config.notifications.command == ""
    with guest_state() as state:
        folder = state.path.parent
        assert folder.stat().st_mode & 0o777 == 0o700
        state.mark_seen("haak:/m", ["one"])
    assert not folder.exists()
    assert not state_file().exists()


def test_packets_are_taken_whole() -> None:
    data = b"D\0\0\0\2abM\0\0\0\0D\0\0\0\5ab"
    assert list(packets(data)) == [(b"D", b"ab"), (b"M", b"")]
    assert list(packets(data[:4])) == []
    assert list(packets(b"")) == []
