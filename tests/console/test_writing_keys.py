"""The composer as an editor: what each key does to the text, what is said of it, and what is seen after sending."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import TextArea

from console.panes import footer
from console.panes.footer import SHORTEST_SECONDS
from console.state.composer_draft import ComposerDraft
from mailstore.state.views import View
from tests.conftest import Open
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import MailFiles


def write_mail(folder: Path, **more: Any) -> MailFiles:
    mail = MailFiles(folder, **more)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001")
    mail.message("one", "ann-00000001", "bob-00000001", "The first word.", ago=500, subject="First")
    mail.message("two", "ann-00000001", "user", "The second word.", ago=400, subject="Second")
    return mail


def body(seat: Seat) -> Any:
    return seat.screen.composer.query_one("#body")


async def write(seat: Seat, text: str = "", to: str = "ann-00000001") -> None:
    seat.screen.composer.open(ComposerDraft("new", to, "", text))
    seat.screen.composer.focus_field()
    await settle(seat.pilot)


async def test_tab_in_the_text_indents_and_never_leaves_it(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await write(seat)
        await seat.press("tab", *"ab", "tab", "q", "D", "z")
        assert body(seat).text == "    ab  qDz"
        assert seat.screen.focused is body(seat)
        assert seat.app.screen is seat.screen
        await seat.press("shift+tab")
        assert seat.screen.focused is seat.screen.composer.query_one("#subject")
        await seat.press("tab", "escape")
        assert not seat.screen.composer.is_open


@pytest.mark.parametrize("key", ["enter", "ctrl+j", "shift+enter"])
async def test_every_key_that_means_a_new_line_begins_one(key: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await write(seat)
        await seat.press("a", key, "b")
        assert body(seat).text == "a\nb"


@pytest.mark.parametrize("pasted", ["a\nb", "a\rb", "a\r\nb"])
async def test_every_pasted_end_of_a_line_ends_one(pasted: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await write(seat, "x\r\ny")
        await seat.paste(pasted)
        assert seat.screen.composer.writing.body == "x\nya\nb"


def test_line_feeds_break_lines_in_a_terminal(tmp_path: Path, open_console: Open) -> None:
    mail = write_mail(tmp_path, now=time.time())
    terminal = open_console(mail.url)
    terminal.wait_for("The second word.")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.send("one\ntwo\rthree\n")
    terminal.paste("four\nfive\rsix")
    terminal.wait_for("six")
    terminal.press("ctrl+s")
    terminal.wait_for("Sent")
    written = json.loads(mail.mailbox.read_bytes().splitlines()[-1])["content"]
    assert written == "one\ntwo\nthree\nfour\nfive\nsix"


STEERING = "\x1b[41mred\x1b[0m\x1b]0;a title\x07 and "
SHOWN = "␛[41mred␛[0m␛]0;a title␇ and "


def test_what_is_pasted_or_comes_from_the_editor_does_nothing_to_the_terminal(
    tmp_path: Path, open_console: Open
) -> None:
    editor = tmp_path / "editor"
    editor.write_bytes(b"#!/bin/sh\nprintf '" + STEERING.encode() + b'edited\' >> "$1"\n')
    editor.chmod(0o755)
    mail = write_mail(tmp_path, now=time.time())
    terminal = open_console(mail.url, EDITOR=str(editor))
    terminal.wait_for("The second word.")
    terminal.paste("\x1bq" * 20)  # these would be keys, and leave
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.paste(f"{STEERING}pasted ")
    terminal.wait_for(f"{SHOWN}pasted")
    terminal.press("ctrl+e")
    terminal.wait_for("edited")
    y = next(y for y, line in enumerate(terminal.lines) if "pasted" in line)
    assert {terminal.cell(x, y).bg for x in range(120)} <= {terminal.cell(x, y - 1).bg for x in range(120)}
    terminal.press("ctrl+s")
    terminal.wait_for("Sent")
    written = json.loads(mail.mailbox.read_bytes().splitlines()[-1])["content"]
    assert written == f"{SHOWN}pasted {SHOWN}edited"


async def test_a_copied_text_is_put_into_a_field_with_signs_for_its_control_characters(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("steering", "ann-00000001", "user", f"{STEERING}\nmore", ago=1)
    async with opened(mail.data) as seat:
        await seat.open_thread("steering")
        await seat.press("y", "r", "ctrl+v")
        assert seat.screen.composer.writing.body == f"{SHOWN}\nmore"


async def test_after_the_editor_one_goes_on_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'In the\\neditor.' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    async with opened(write_mail(tmp_path).data) as seat:
        from contextlib import nullcontext

        monkeypatch.setattr(seat.app, "suspend", nullcontext)
        await write(seat)
        await seat.press("ctrl+e", *" More.")
        assert body(seat).text == "In the\neditor. More."


def test_an_editor_that_is_missing_leaves_the_terminal_to_the_console(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(write_mail(tmp_path, now=time.time()).url, EDITOR="/nowhere/editor")
    terminal.wait_for("The second word.")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.press("ctrl+e")
    terminal.wait_for("Can't run '/nowhere/editor'")
    terminal.send("Still here.")
    terminal.wait_for("Still here.")
    terminal.press("escape")
    terminal.wait_gone("Reply")
    terminal.press("q")
    assert terminal.wait_exit() == 0


def test_what_the_editor_saved_is_the_draft_when_a_signal_ended_the_console_meanwhile(
    tmp_path: Path, open_console: Open
) -> None:
    mail = write_mail(tmp_path, now=time.time())
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho It was saved. > "$1"\necho It goes on.\nexec cat\n')
    editor.chmod(0o755)
    terminal = open_console(mail.url, EDITOR=str(editor))
    terminal.wait_for("The second word.")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.press("ctrl+e")
    terminal.wait_for("It goes on.")
    terminal.signal(signal.SIGHUP)
    terminal.press("ctrl+d")
    assert terminal.wait_exit() == 129
    again = open_console(mail.url)
    again.wait_for("1 draft")
    again.press("r")
    again.wait_for("It was saved.")


@pytest.mark.parametrize(("key", "sign"), [("ctrl+c", "Interrupt"), ("ctrl+\\", "Quit")])
def test_what_ends_an_editor_that_reads_lines_leaves_the_console_and_the_draft(
    key: str, sign: str, tmp_path: Path, open_console: Open
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho It reads lines.\nexec cat\n")
    editor.chmod(0o755)
    terminal = open_console(write_mail(tmp_path, now=time.time()).url, EDITOR="editor", PATH=f"{tmp_path}:{os.defpath}")
    terminal.wait_for("The second word.")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.send("Before it.")
    terminal.press("ctrl+e")
    terminal.wait_for("It reads lines.")
    terminal.press(key)
    terminal.wait_for(f"editor was ended by a signal ({sign})")
    terminal.send(" After it.")
    terminal.wait_for("Before it. After it.")
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == 0


@pytest.mark.parametrize(
    "begin",
    [("r",), ("asterisk", "x"), ("slash", "x"), ("question_mark",)],
    ids=["text", "question", "search", "help"],
)
async def test_typing_lays_nothing_out(begin: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press(*begin)
        field: Any = seat.app.focused
        layouts = []
        monkeypatch.setattr(Screen, "_refresh_layout", lambda *args, **more: layouts.append(args))
        await seat.press(*"abcde")
        assert "abcde" in (field.text if isinstance(field, TextArea) else field.value)
        assert layouts == []


def test_typing_repaints_a_line_and_a_new_word_the_count(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(write_mail(tmp_path).url)
    terminal.wait_for("The second word.")
    terminal.press("r")
    terminal.wait_for("reaches")
    terminal.send("a")
    terminal.wait_for("1 word ")
    for typed, most in (("b", 1500), (" ", 1500), ("c", 2500)):
        before = len(terminal.raw)
        terminal.send(typed)
        terminal.wait_for("2 words" if typed == "c" else f"ab{'' if typed == 'b' else ' '}")
        assert len(terminal.raw) - before < most, terminal.raw[before:]


async def test_the_count_of_words_is_that_of_this_draft(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(160, 40)) as seat:
        await write(seat, "Three words here")
        assert "3 words" in seat.text
        await write(seat, "", to="")
        assert "3 words" not in seat.text
        assert "0 words" in seat.text
        await seat.press("tab", "tab", *"one more")
        assert "2 words" in seat.text


async def test_an_empty_text_is_refused_in_words_of_the_console(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(160, 40)) as seat:
        await write(seat)
        await seat.press("ctrl+s")
        assert "body is empty: write a text" in " ".join(seat.text.split())
        assert "--body" not in seat.text


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_what_was_sent_is_on_the_screen(size: tuple[int, int], tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=size) as seat:
        await seat.open_thread("one")
        await write(seat, "News for everybody.", to="all")
        await seat.press("ctrl+s")
        await seat.sees("News for everybody.")
        await seat.until(lambda: (it := seat.screen.conversation.message) is not None and it.sender == "user")
        await settle(seat.pilot)
        assert "News for everybody." in seat.text
        assert "The first word." not in "\n".join(line[len(line) // 2 :] for line in seat.lines)


async def test_what_was_sent_is_shown_though_the_view_does_not_list_it(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        seat.screen.show_view(View("agent", "bob-00000001"))
        await settle(seat.pilot)
        await write(seat, "News for Ann.")
        await seat.press("ctrl+s")
        await seat.until(lambda: (it := seat.screen.conversation.message) is not None and it.sender == "user")
        await seat.sees("News for Ann.")


async def test_who_went_on_meanwhile_is_left_where_they_are(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        parts = await seat.screen.load_parts()
        for key, goes_on in (("late", True), ("later", False)):
            assert seat.screen.threads.select("two")
            await settle(seat.pilot)
            parts.composing.delivered(key, ComposerDraft("new"))
            if goes_on:
                assert seat.screen.threads.select("one")
                await settle(seat.pilot)
            mail.message(key, "user", "ann-00000001", "News for Ann.", ago=0)
            await seat.until(lambda key=key: key in seat.screen.session.mailbox)
            await settle(seat.pilot)
            assert seat.screen.threads.cursor_key == ("one" if goes_on else key)


async def test_the_keys_come_back_after_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SHORTEST_SECONDS <= 3
    monkeypatch.setattr(footer, "SHORTEST_SECONDS", 0.05)
    async with opened(write_mail(tmp_path).data) as seat:
        await write(seat, "News.")
        await seat.press("ctrl+s")
        await seat.until(lambda: "enter open" in seat.lines[-1])
        assert seat.notice == ""
