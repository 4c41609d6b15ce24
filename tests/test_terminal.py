"""The pseudo-terminal of the other tests: does it show and send what a terminal would?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyte.screens import Char

from console.cli.version import VERSION
from tests.conftest import Open, Start
from tests.forking import FORK, ROOT, is_forkable
from tests.mailboxes import MailFiles
from tests.terminal import SIGNALBOX, Terminal, environment
from tests.terminal_keys import NAMED, encoded
from tests.terminal_output import Output
from tests.terminal_screen import RememberingScreen, RememberingStream

APP = """
from textual.app import App, ComposeResult
from textual.widgets import Static

class Tiny(App):
    CSS = "#words { color: #ff8000; background: #102030; }"
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Static("wide 日本 then ▌words", id="words")
        yield Static("ready", id="key")
        yield Static("", id="size")

    def on_key(self, event):
        event.stop()
        event.prevent_default()
        if event.key == "q":
            self.copy_to_clipboard("a copied text")
            self.bell()
            self.exit()
        self.query_one("#key", Static).update(f"<{event.key}>")

    def on_paste(self, event):
        self.query_one("#key", Static).update(f"pasted {event.text!r}")

    def on_click(self, event):
        self.query_one("#key", Static).update(f"clicked {event.screen_x},{event.screen_y}")

    def on_resize(self, event):
        self.query_one("#size", Static).update(f"{event.size.width} by {event.size.height}")

Tiny().run()
"""
MEASURED = """
import sys
from pathlib import Path
from benchmarks.console import open_console
with open_console(*map(Path, sys.argv[1:])) as console:
    console.wait_for("● live")
    print(Path(f"/proc/{console.pid}/cmdline").read_text())
"""
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
)


@pytest.fixture
def tiny(terminal: Start) -> Terminal:
    started = terminal([sys.executable, "-c", APP], size=(60, 12))
    started.wait_for("60 by 12")
    return started


def test_cells_hold_text_and_colours(tiny: Terminal) -> None:
    assert tiny.line(0).startswith("wide 日本 then ▌words")
    assert tiny.find("▌words") == (15, 0)
    cell = tiny.cell(16, 0)
    assert (cell.data, cell.fg, cell.bg) == ("w", "ff8000", "102030")


def test_every_key_arrives_under_its_name(tiny: Terminal) -> None:
    for key in [*NAMED, "j", "G", "7", "ctrl+s", "ctrl+d", "ctrl+p"]:
        tiny.press(key)
        tiny.wait_for(f"<{key}>")


def test_what_no_terminal_sends_is_refused() -> None:
    with pytest.raises(ValueError, match="no terminal sends"):
        encoded("hyper+x")


def test_a_paste_comes_in_one_piece_and_a_click_where_it_was_made(tiny: Terminal) -> None:
    tiny.wait_for(lambda terminal: 2004 in terminal.output.modes)
    tiny.paste("two\nlines")
    tiny.wait_for("pasted 'two")
    tiny.click(7, 1)
    tiny.wait_for("clicked 7,1")


def test_a_new_size_reaches_the_program(tiny: Terminal) -> None:
    tiny.resize(40, 8)
    tiny.wait_for("40 by 8")
    assert len(tiny.lines) == 8
    assert len(tiny.line(0)) < 41


def test_a_program_that_leaves_puts_the_terminal_back(tiny: Terminal) -> None:
    assert 1049 in tiny.output.modes
    tiny.press("q")
    assert tiny.wait_exit() == 0
    assert tiny.output.modes <= {7, 25}
    assert tiny.output.keyboard_levels == 0
    assert tiny.output.copied == ["a copied text"]
    assert tiny.output.bells == 1
    assert tiny.output.malformed == 0


def test_what_was_seen_is_known_with_its_time(tiny: Terminal) -> None:
    sighting = tiny.watch("<x>")
    tiny.press("x")
    assert tiny.started_at < sighting.wait() <= tiny.wait_for("<x>")


def test_a_vain_wait_tells_what_the_screen_shows(tiny: Terminal) -> None:
    with pytest.raises(AssertionError, match=r"not within 0\.05 s: 'nowhere'(?s:.*)60 by 12"):
        tiny.wait_for("nowhere", timeout=0.05)


def test_a_wait_for_a_program_that_ended_ends(tiny: Terminal) -> None:
    tiny.press("q")
    with pytest.raises(AssertionError, match="the program ended"):
        tiny.wait_for("nowhere")


def test_an_error_in_a_tests_own_function_is_raised_where_it_waits(tiny: Terminal) -> None:
    with pytest.raises(IndexError):
        tiny.wait_for(lambda terminal: bool(terminal.line(99)))


def test_a_program_that_does_not_listen_is_ended(terminal: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.terminal.GRACE", 0.2)
    started = terminal([sys.executable, "-c", STUBBORN])
    started.wait_for("here")
    started.close()
    assert started.status == -signal.SIGKILL


class Recorder:
    """An `Output` whose screen is a list."""

    def __init__(self) -> None:
        self.drawn = b""
        self.answers: list[bytes] = []
        self.frames: list[bytes] = []
        self.output = Output(self.draw, self.answers.append, lambda: self.frames.append(self.drawn))

    def draw(self, data: bytes) -> None:
        self.drawn += data


SAID = (
    b"one\x1b[1;38;2;1;2;3mtwo\x1b[>25u\x1b[?2026$p\x1b[?2048$p\x1b[>4;1m\x1b[c\x1b]0;a title\x07three"
    b"\x1b]9;ring\x1b\\\x1bPstring\x1b\\\x1b[4:3mfour\x1b7\x1b(Bfive\x07"
)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")


@on_linux
def test_a_forked_program_is_as_one_that_was_started(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str, **env: str) -> tuple[int, bytes]:
        with Terminal([*SIGNALBOX, *words], env=environment(home, **env), cwd=tmp_path) as terminal:
            return terminal.wait_exit(), bytes(terminal.raw)

    monkeypatch.setenv(FORK, "1")
    mail = MailFiles(tmp_path, now=1_790_000_000)
    mail.agent("ann-00000001")
    mail.message("one", "ann-00000001", "user", "Hello.", ago=9)
    here = f"haak:{mail.data.relative_to(tmp_path)}"
    for words, env, status, text in (
        (["--version"], {}, 0, f"signalbox {VERSION}\r\n"),
        (["status", "--nonsense"], {}, 2, "--nonsense"),
        (["thread", "one", "--store", here], {"NO_COLOR": "1"}, 0, "Hello."),
    ):
        assert is_forkable(environment(home, **env))
        forked = run(*words, **env)
        with monkeypatch.context() as context:
            context.delenv(FORK)
            assert run(*words, **env) == forked
        assert forked[0] == status
        assert text in forked[1].decode()


@on_linux
@pytest.mark.parametrize("fork", ["", "1"])
def test_a_program_has_its_terminal_and_its_signals(
    fork: str, open_console: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FORK, fork)
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.agent("ann-00000001")
    mail.message("one", "ann-00000001", "user", "Hello.", ago=9)
    console = open_console(mail.url)
    console.wait_for("Hello.")
    assert os.getsid(console.pid) == console.pid
    columns, lines = console.size
    console.resize(columns, lines + 4)
    console.wait_for(lambda terminal: terminal.line(lines + 3).strip() != "")
    console.signal(signal.SIGKILL)
    assert console.wait_exit() == -signal.SIGKILL


@on_linux
def test_nothing_is_forked_that_must_know_a_variable_when_it_starts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FORK, "1")
    assert is_forkable(environment(home, NO_COLOR="1"))
    for name in ("PYTHONUTF8", "PYTHONPATH", "TEXTUAL_FPS", "ESCDELAY", "LANG", "LC_ALL"):
        assert not is_forkable(environment(home, **{name: "1"}))
    monkeypatch.delenv(FORK)
    assert not is_forkable(environment(home))


@on_linux
def test_benchmarks_measure_a_program_that_starts(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORK)
    mail = MailFiles(tmp_path / "mail", now=time.time())
    words = [sys.executable, "-c", MEASURED, mail.data, home]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "console\0open\0" in done.stdout


@pytest.mark.parametrize("length", [1, 2, 3, 5, 1000])
def test_escapes_are_parted_however_they_are_cut(length: int) -> None:
    recorder = Recorder()
    for at in range(0, len(SAID), length):
        recorder.output.feed(SAID[at : at + length])
    assert recorder.drawn == b"one\x1b[1;38;2;1;2;3mtwothreefour\x1b7\x1b(Bfive\x07"
    assert recorder.answers == [b"\x1b[?2026;2$y", b"\x1b[?2048;0$y", b"\x1b[?62;22c"]
    assert recorder.output.commands == ["0;a title", "9;ring"]
    assert (recorder.output.title, recorder.output.bells) == ("a title", 1)
    assert (recorder.output.keyboard_levels, recorder.output.malformed) == (1, 0)


def test_a_synchronised_update_is_seen_whole() -> None:
    recorder = Recorder()
    recorder.output.feed(b"a\x1b[?2026hb")
    assert recorder.frames == []
    recorder.output.feed(b"c\x1b[?2026ld\x1b[?2026he")
    assert [frame.replace(b"\x1b[?2026h", b"").replace(b"\x1b[?2026l", b"") for frame in recorder.frames] == [b"abc"]


def test_a_broken_escape_is_counted_and_does_not_swallow_what_follows() -> None:
    recorder = Recorder()
    recorder.output.feed(b"\x1b[31\x01mstill here")
    assert recorder.output.malformed == 1
    assert recorder.drawn.endswith(b"still here")


DRAWN = (
    *("plain", "───╮", "日本語", "e\u0301", "\x9b2J", "\x0e", "\x0f", "\r\n", "x" * 25, "\t|", "\x1b[1;31m", "\x1b[0m"),
    *("\x1b[38;2;1;2;3;48;5;7m", "\x1b[3;4H", "\x1b[4h", "\x1b[4l", "\x1b[K", "\x1b(0", "\x1b(B", "\x1b[?7l", "\x1b[m"),
)


def cells(screen: pyte.Screen) -> dict[int, dict[int, Char]]:
    return {y: dict(row) for y, row in screen.buffer.items()}


@given(st.lists(st.sampled_from(DRAWN), max_size=30))
@example(["\x1b[3;4H", "日本語", "\x1b[3;4H", "plain"])  # half a sign stays
def test_what_was_drawn_before_looks_as_when_it_is_drawn_first(pieces: list[str]) -> None:
    known, own = RememberingScreen(20, 6), pyte.Screen(20, 6)
    remembering, plain = Output(RememberingStream(known).feed, len, int), Output(pyte.ByteStream(own).feed, len, int)
    for piece in [*pieces, *pieces]:
        remembering.feed(piece.encode())
        plain.feed(piece.encode())
        assert cells(known) == cells(own)
        assert known.cursor.attrs == own.cursor.attrs
        assert (known.cursor.x, known.cursor.y) == (own.cursor.x, own.cursor.y)
    assert known.dirty == own.dirty
