"""In a real terminal every frame stands where it should, whatever is in a text, and sixteen colours say the same."""

from __future__ import annotations

import time
from pathlib import Path

import pyte
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from wcwidth import wcwidth

from console.panes.list_rows import layout_line
from console.render.ansi_colours import AnsiColours, nearest
from console.render.cells import SAMPLES, PortableCells, portable
from console.render.safe import visible_line
from console.terminal.queries import TerminalAnswer, TerminalQueries, ask_widths
from tests.conftest import Open
from tests.mailboxes import MailFiles, iso
from tests.terminal import Terminal
from tests.terminal_output import Output
from tests.terminal_screen import RememberingScreen

EMOJI = {
    "family": "👨‍👩‍👧‍👦",
    "flag": "🇩🇪",
    "half a flag": "🇩",
    "shade": "👍🏽",
    "shade alone": "🏽",
    "heart": "❤️",
    "text sign": "✈︎",
    "key": "1️⃣",
    "rainbow": "🏳️‍🌈",
    "coder": "🧑🏽‍💻",
    "wide": "日本 👩 🚀",
    "marks": "e\u0301a\u0308",
    "vowels": "\u0939\u093f\u0928\u094d\u0926\u0940",
    "sign": "\u2630",
    "newer": "\U0001fae9",
    "unassigned": "\u0378",
}


@pytest.mark.parametrize("text", EMOJI.values(), ids=EMOJI)
def test_every_terminal_counts_the_cells_that_were_laid_out(text: str) -> None:
    """A terminal that adds up each character's cells, as xterm and tmux do, comes to the same number."""
    drawn = portable(f"a{text}b")
    assert cell_len(drawn) == cell_len(f"a{text}b")
    assert sum(wcwidth(char) for char in drawn) == cell_len(drawn)
    assert drawn.startswith("a")
    assert drawn.endswith("b")


class Emulator:
    """A terminal that adds up what its parts take, and answers where its cursor is."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self._is_silent = is_silent
        self._screen = RememberingScreen(240, 4)
        self._sent = ""
        self._output = Output(pyte.ByteStream(self._screen).feed, self._answer, lambda: None)
        self._output.cursor = lambda: (self._screen.cursor.x, self._screen.cursor.y)

    def _answer(self, data: bytes) -> None:
        self._sent += "" if self._is_silent else data.decode()

    def query(self, question: str, *answers: TerminalAnswer) -> None:
        queries = TerminalQueries()
        for answer in answers:
            queries.expect(answer)
        self._output.feed(question.encode())
        assert queries.sift(self._sent) == ""
        assert not "".join(self._screen.display).strip()  # nothing of the samples stays

    def width(self, text: str) -> int:
        self._output.feed(f"\x1b[H{text}".encode())
        return self._screen.cursor.x


def trusted_by(terminal: Emulator) -> frozenset[str]:
    found: list[frozenset[str]] = []
    ask_widths(terminal, found.append)
    return found[0] if found else frozenset()


ADDING = trusted_by(Emulator())


def test_a_terminal_is_trusted_with_what_it_measures_as_the_layout_does() -> None:
    assert {"new", "sign"} <= ADDING < set(SAMPLES)
    assert "joined" not in ADDING
    assert trusted_by(Emulator(is_silent=True)) == frozenset()
    family = EMOJI["family"]
    assert portable(family, ADDING) == "👨"
    assert portable(family, {"joined"}) == family
    assert portable(EMOJI["vowels"], {"vowel"}) == EMOJI["vowels"]
    assert portable(EMOJI["flag"], {"flag"}) == EMOJI["flag"]
    assert portable(EMOJI["half a flag"], {"flag"}).strip() == "D"


CLUSTERS = st.lists(st.sampled_from([*EMOJI.values(), "a", " "]) | st.characters(), max_size=20).map("".join)


@example("ignored \U000e01f0", True)
@example("not assigned \u05c8x", True)
@example("wide in some releases \U00018cd6x", True)
@example("no cell of its own \u07a6", False)
@given(CLUSTERS, st.booleans())
def test_what_is_drawn_takes_the_cells_that_were_laid_out_whatever_is_written(text: str, is_asked: bool) -> None:
    trusted = ADDING if is_asked else frozenset()
    line = layout_line([(visible_line(text), Style())], [("12:00", Style())], 60, Style())
    (drawn,) = [Strip(PortableCells(trusted).apply(list(line), Color(0, 0, 0)))]
    assert line.cell_length == drawn.cell_length == 60
    assert Emulator().width(drawn.text) == 60


def test_no_control_character_is_written() -> None:
    (drawn,) = PortableCells().apply([Segment("a\x1b[31mb\x9bc\x7f\x07\x85 日\r\n\t\x1b")], Color(0, 0, 0))
    assert drawn.text == "a[31mbc 日"


FRAME = set("│╮╭╯╰▁▂▃▄▅▆▇█ ")


def is_framed(terminal: Terminal) -> bool:
    """Say whether the panes' edges stand in the same columns on every line."""
    columns, lines = terminal.size
    edges = [x for x in range(columns) if terminal.cell(x, 1).data in {"╮", "╭"}]
    cells = {terminal.cell(x, y).data for y in range(2, lines - 3) for x in edges}
    return len(edges) in (4, 6) and "│" in cells and cells <= FRAME


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_no_emoji_moves_a_frame(size: tuple[int, int], tmp_path: Path, open_console: Open) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    for at, (name, text) in enumerate(EMOJI.items()):
        mail.message(f"m-{at}", "ann-00000001", "user", f"{text} in {name}\n\n- {text} {text}", ago=900 - at)
    terminal = open_console(mail.url, size=size)
    terminal.wait_for("live")
    terminal.wait_for("in marks")
    for name in reversed(EMOJI):
        terminal.wait_for(lambda terminal, name=name: f"in {name} ─" in terminal.line(1))
        terminal.wait_for(is_framed)
        terminal.press("j")
    terminal.press("r")
    terminal.wait_for("ctrl+s: send")
    for text in EMOJI.values():
        terminal.send(text)
    terminal.send(" finis")
    terminal.wait_for("finis")
    terminal.wait_for(is_framed)


@pytest.mark.parametrize(
    ("colour", "number"),
    [
        ("f2a65a", 11),
        ("d9b44a", 11),
        ("ffb347", 11),
        ("ffd000", 11),
        ("8a5a00", 3),
        ("e0716c", 9),
        ("a8322a", 1),
        ("7fb77e", 10),
        ("0f6b4f", 2),
        ("24568a", 4),
        ("8ad4ff", 14),
        ("c99bd8", 13),
        ("cdd5df", 15),
        ("7d8a9c", 7),
        ("2b2a27", 0),
    ],
)
def test_a_colour_keeps_its_name_among_sixteen(colour: str, number: int) -> None:
    assert nearest(*bytes.fromhex(colour), is_paper=False) == number


def test_what_is_faint_is_not_written_in_the_colour_of_its_ground() -> None:
    for ink, paper in (("#1a1d22", "#0a0c10"), ("#f7f7f7", "#ffffff"), ("#555555", "#5f5f5f")):
        (segment,) = AnsiColours().apply([Segment("a", Style.parse(f"{ink} on {paper}"))], Color(0, 0, 0))
        assert segment.style is not None
        assert segment.style.color != segment.style.bgcolor


@pytest.mark.parametrize("theme", ["night-box", "blackout", "timetable"])
def test_amber_is_no_red_in_a_terminal_of_sixteen_colours(theme: str, tmp_path: Path, open_console: Open) -> None:
    now = time.time()
    mail = MailFiles(tmp_path, now=now)
    mail.agent("fro-00000001", "frozen")
    mail.agent("ded-00000001", "dead", ended_at=iso(now - 3600))
    mail.message("one", "ann-00000001", "fro-00000001", "A word.", ago=60, subject="First")
    mail.message("two", "ann-00000001", "ded-00000001", "A word.", ago=7200, subject="Second")
    terminal = open_console(mail.url, "--theme", theme, TERM="xterm", COLORTERM="")
    terminal.wait_for("live")
    terminal.wait_for("1 dead letter")
    terminal.press("D")
    terminal.wait_for("Dead letters ─")
    terminal.wait_for("recipient ended before reading")
    at = terminal.find("✕")
    assert at is not None
    assert terminal.cell(*at).fg in {"red", "brightred"}
    title = terminal.find("Signalbox")
    assert title is not None
    accent = {"timetable": {"green"}}.get(theme, {"brown", "brightbrown", "brightyellow", "yellow"})
    assert terminal.cell(*title).fg in accent
    grounds = {terminal.cell(x, y).bg for x in range(10, 60) for y in range(40)}
    assert len(grounds) > 1 or theme == "night-box"
