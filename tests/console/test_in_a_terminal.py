"""The console as a person meets it: a program in a terminal, on files that other programs wrote."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import Open, Start
from tests.mailboxes import MailFiles
from tests.terminal import SIGNALBOX, Terminal

ESCAPES = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1b[31mred\x9b2J\x07 end"


def mailbox(tmp_path: Path) -> MailFiles:
    """Write three threads between two agents, as of now."""
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001", role="architect", tags=["project:ink"])
    mail.agent("bob-00000001", role="librarian", tags=["project:ink"])
    mail.message("m-1", "ann-00000001", "bob-00000001", "Which **colour**?", ago=300, subject="The colour")
    mail.message("m-2", "bob-00000001", "ann-00000001", "Blue, then.", ago=200, thread="m-1")
    mail.message("m-3", "ann-00000001", "project:ink", "The ink is dry.", ago=100, subject="Dry ink")
    mail.message("m-4", "bob-00000001", "user", "May I?", ago=50, subject="A wish", type="question")
    return mail


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return each file's bytes and time of change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def quit_from(terminal: Terminal) -> int:
    terminal.press("q")
    return terminal.wait_exit()


def test_what_the_files_hold_is_on_the_screen(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    for text in ("Signalbox", "4 messages", "A wish", "Dry ink", "The colour", "#ink", "May I?"):
        terminal.wait_for(text)
    assert quit_from(terminal) == 0


def test_a_message_of_another_program_appears(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("A wish")
    mail.message("m-5", "bob-00000001", "all", "It is done.", ago=0, subject="Just arrived")
    terminal.wait_for("Just arrived")
    terminal.wait_for("5 messages")


def test_the_focus_repaints_only_what_shows_it(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("May I?")
    terminal.press("j")
    terminal.wait_for("The ink is dry.")
    for _ in range(4):  # around and on: the first time, they are styled
        keys, before = terminal.line(-1), len(terminal.raw)
        terminal.press("tab")
        terminal.wait_for(lambda terminal, keys=keys: terminal.line(-1) != keys)  # type: ignore[misc]
    assert b"A wish" not in terminal.raw[before:]


def test_the_scroll_bar_of_the_help_says_from_the_first_that_there_is_more(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("May I?")
    terminal.press("?")
    terminal.wait_for("Basic keys")

    def has_thumb(terminal: Terminal) -> bool:
        found = terminal.find("Basic keys")
        return found is not None and any(terminal.cell(x, found[1]).reverse for x in range(80, 120))

    terminal.wait_for(has_thumb)


def test_looking_around_changes_no_byte(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    before = contents(mail.data)
    terminal = open_console(mail.url, "--observe")
    terminal.wait_for("May I?")
    for key, sign in (("j", "The ink is dry."), ("j", "Blue, then."), ("D", "Dead letters")):
        terminal.press(key)
        terminal.wait_for(sign)
    terminal.press("q")
    terminal.wait_for("Blue, then.")
    assert quit_from(terminal) == 0
    assert contents(mail.data) == before


def test_quitting_puts_the_terminal_back(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("A wish")
    assert {1049, 1000, 2004} <= terminal.output.modes
    assert quit_from(terminal) == 0
    assert terminal.output.modes <= {7, 25}
    assert terminal.output.keyboard_levels == 0


def test_escapes_in_a_message_reach_no_terminal(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    mail.message("m-5", "bob-00000001", "user", ESCAPES, ago=0, subject=f"Look {ESCAPES}")
    terminal = open_console(mail.url)
    terminal.wait_for("Look")
    terminal.wait_for("owned")
    terminal.wait_for("Dry ink")
    assert b"\x1b[31mred" not in terminal.raw
    assert "owned" not in terminal.output.title
    assert terminal.output.copied == []
    assert terminal.output.malformed == 0


def test_a_small_window_still_shows_and_a_large_one_shows_more(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url, size=(80, 24))
    terminal.wait_for("A wish")
    terminal.resize(160, 48)
    terminal.wait_for(lambda terminal: terminal.find("Channels") is not None and terminal.find("May I?") is not None)
    terminal.resize(60, 20)
    terminal.wait_for(lambda terminal: len(re.findall("╭", terminal.screen_text())) == 1)


def test_a_message_written_here_stands_in_the_file(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("May I?")
    terminal.press("r")
    terminal.wait_for("reaches bob-00000001")
    terminal.send("Yes, you may.")
    terminal.wait_for("Yes, you may.")
    terminal.press("ctrl+s")
    terminal.wait_for("5 messages")
    written = json.loads(mail.mailbox.read_text(encoding="utf-8").splitlines()[-1])
    assert (written["content"], written["thread"], written["sender"]) == ("Yes, you may.", "m-4", "user")


def test_a_late_answer_to_the_shell_is_neither_a_command_nor_typed(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("May I?")
    answers = "\x1b[?62;1;4c\x1b[?997;1n\x1bP>|tmux 3.4\x1b\\\x1b]4;1;rgb:0000/0000/0000\x07"
    terminal.send(f"{answers}r")
    terminal.wait_for("reaches bob-00000001")
    terminal.send(f"Yes, {answers}you may.")
    terminal.wait_for("Yes, you may.")


def test_a_wrong_setting_is_told_in_the_console(tmp_path: Path, home: Path, open_console: Open) -> None:
    settings = home / ".config" / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("them = 3\n")
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for('"them"')  # the words before it are broken where the path's length has it


@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_the_terminal_as_it_was(
    tmp_path: Path, open_console: Open, sign: signal.Signals, status: int
) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("threads")
    terminal.signal(sign)
    assert terminal.wait_exit() == status
    assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
    assert terminal.raw.rfind(b"\x1b[?1000l") > terminal.raw.rfind(b"\x1b[?1000h")


def test_a_signal_ends_the_console_though_its_terminal_reads_nothing(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("● live")
    with terminal.stalled():
        for _ in range(30):
            terminal.press("1", "2")
        terminal.signal(signal.SIGTERM)
        terminal.wait_end()
    assert terminal.wait_exit() == 143
    assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")


def test_while_the_terminal_reads_nothing_mail_is_followed_and_sent_and_shown_afterwards(
    tmp_path: Path, open_console: Open
) -> None:
    mail = mailbox(tmp_path)
    other, terminal = open_console(mail.url, "--observe"), open_console(mail.url)
    terminal.wait_for("● live")
    with terminal.stalled():
        for number in range(40):
            mail.message(f"n-{number}", "bob-00000001", "user", "It is done.", ago=0, subject=f"Number {number}.")
            other.wait_for(f"{5 + number} messages")
            terminal.press("12"[number % 2])
        terminal.press("g", "r")
        terminal.send("Sent meanwhile.")
        terminal.press("ctrl+s")
        other.wait_for("45 messages")
    terminal.wait_for("Sent meanwhile.")
    terminal.wait_for("45 messages")


def test_who_closes_the_terminal_comes_back_to_where_it_was(tmp_path: Path, open_console: Open) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("● live")
    terminal.press("1", "g", "j")
    terminal.wait_for("╭─ For you ─")
    terminal.signal(signal.SIGHUP)
    assert terminal.wait_exit() == 129
    open_console(mail.url).wait_for("╭─ For you ─")


def test_ctrl_z_leads_to_the_shell_and_fg_back_to_what_has_come_meanwhile(tmp_path: Path, terminal: Start) -> None:
    mail = mailbox(tmp_path)
    mail.agent("cid-00000001", "dead")
    shell = terminal(["/bin/sh", "-i"], PS1="shell> ")
    shell.wait_for("shell> ")
    shell.send(f"{shlex.join([*SIGNALBOX, 'open', mail.url])}\r")
    shell.wait_for("● live")
    shell.press("D")
    shell.wait_for("─ Dead letters ─")
    shell.press("ctrl+z")
    shell.wait_for("Stopped")
    mail.message("m-5", "bob-00000001", "cid-00000001", "Are you there?", ago=0, subject="While it was stopped")
    shell.send("fg\r")
    shell.wait_for("While it was stopped")
    shell.press("ctrl+q")
    shell.wait_for(lambda it: it.raw.endswith(b"shell> "))
    shell.send("exit\r")
    assert shell.wait_exit() == 0


def test_ctrl_z_does_not_stop_what_no_shell_could_continue(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("● live")
    terminal.press("ctrl+z")
    terminal.wait_for("No shell to return to")
    terminal.press("D")
    terminal.wait_for("─ Dead letters ─")


def test_a_command_that_mail_is_piped_to_writes_to_the_terminal_and_takes_no_keys(
    tmp_path: Path, open_console: Open
) -> None:
    command = tmp_path / "command"
    command.write_text(
        "#!/bin/sh\ntrap '' TTIN\nprintf '' > /dev/tty && echo written\nread key < /dev/tty || echo refused\n"
    )
    command.chmod(0o755)
    terminal = open_console(mailbox(tmp_path / "box").url, PATH=f"{tmp_path}:{os.defpath}")
    terminal.wait_for("● live")
    terminal.press("|")
    terminal.wait_for("Pipe the text to")
    terminal.send("command\r")
    terminal.wait_for("─ command ─")
    assert terminal.find("written")
    assert terminal.find("refused")


def test_ctrl_l_draws_what_another_program_has_overwritten(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(mailbox(tmp_path).url)
    terminal.wait_for("● live")
    terminal.press("D")
    terminal.wait_for("No dead letters.")
    terminal.path.write_bytes(b"\x1b[2J\x1b[5HSomebody logged in.\x1b[?1000l")
    terminal.wait_for(lambda it: b"Somebody logged in." in it.raw)  # a list that was just opened is drawn again
    terminal.press("ctrl+l")
    terminal.wait_for(lambda it: it.raw.rfind(b"\x1b[?1000h") > it.raw.rfind(b"\x1b[?1000l"))
    terminal.wait_for("No dead letters.")
    terminal.wait_gone("Somebody logged in.")


def test_it_draws_on_the_terminal_wherever_errors_go_and_in_any_locale(tmp_path: Path, terminal: Start) -> None:
    command = shlex.join([*SIGNALBOX, "open", mailbox(tmp_path).url])
    ascii_only = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    console = terminal(["/bin/sh", "-c", f"exec {command} 2> {shlex.quote(str(tmp_path / 'errors'))}"], **ascii_only)
    console.wait_for("● live")
    console.press("D")
    console.wait_for("No dead letters.")
    console.press("ctrl+q")
    assert console.wait_exit() == 0
    assert (tmp_path / "errors").read_bytes() == b""


def test_who_presses_ctrl_c_is_told_how_to_leave_and_ctrl_q_leaves_from_anywhere(
    tmp_path: Path, open_console: Open
) -> None:
    mail = mailbox(tmp_path)
    terminal = open_console(mail.url)
    terminal.wait_for("threads")
    terminal.press("ctrl+c")
    terminal.wait_for("q quits")
    terminal.press("j", "r")
    terminal.wait_for("Reply")
    terminal.send("half a thought")
    terminal.wait_for("half a thought")
    terminal.press("ctrl+q")
    assert terminal.wait_exit() == 0
    again = open_console(mail.url)
    again.wait_for("1 draft")
