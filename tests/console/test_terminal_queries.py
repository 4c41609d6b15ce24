"""The terminal's answers are cut out of what it sends, in pieces of any size; keys and pastes stay whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual.events import Key, MouseEvent, Paste
from textual.geometry import Offset
from textual.message import Message

from console.terminal.driver import KeyReader
from console.terminal.queries import UNASKED, TerminalAnswer, TerminalQueries, ask_background, hinted_dark, is_dark

WHITE, BLACK = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:10/15/1d\x07"
KEYS = ("a", "\x1b[A", "\x1b", "\x1bOP", "\x1b[1;2R", "\x1b[200~]11;rgb:\x1b[201~", "\x1b]", "日", "\x1b[?2026;2$y")


class Asked:
    def __init__(self) -> None:
        self.queries = TerminalQueries()
        self.heard: list[bool] = []
        self.questions: list[str] = []
        ask_background(self, self.heard.append)

    def query(self, question: str, *answers: TerminalAnswer) -> None:
        self.questions.append(question)
        for answer in answers:
            self.queries.expect(answer)

    def read(self, *pieces: str) -> str:
        return "".join(map(self.queries.sift, pieces)) + self.queries.release()


def pieces(text: str, cuts: list[int]) -> list[str]:
    ends = [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(st.lists(st.sampled_from([*KEYS, WHITE, BLACK]), max_size=6), st.lists(st.integers(0, 500), max_size=6))
def test_answers_are_heard_and_everything_else_is_passed_on(sent: list[str], cuts: list[int]) -> None:
    terminal, text = Asked(), "".join(sent)
    whole = [cut for cut in cuts if text[: cut % (len(text) + 1)][-1:] != "\x1b"]  # a piece that ends so is a key
    assert terminal.read(*pieces(text, whole)) == "".join(piece for piece in sent if piece not in (WHITE, BLACK))
    assert terminal.heard == [piece == BLACK for piece in sent if piece in (WHITE, BLACK)]


@given(st.text(st.sampled_from("\x1b]1;rgb:/f\x07\\[?0"), max_size=200))
def test_nothing_that_is_no_answer_is_lost(text: str) -> None:
    terminal = Asked()
    assert terminal.read(text) == re.sub(r"\x1b\]11;rgba?:\w{1,4}/\w{1,4}/\w{1,4}[^\x07\x1b]*(\x07|\x1b\\)", "", text)


def test_without_a_question_nothing_is_held_back() -> None:
    queries = TerminalQueries()
    assert queries.sift("\x1b]11;rgb:") == "\x1b]11;rgb:"


@pytest.mark.parametrize(
    ("colour", "dark"),
    [
        (("ffff", "ffff", "ffff"), False),
        (("10", "15", "1d"), True),
        (("f", "0", "0"), True),
        (("f7", "f3", "e"), False),
    ],
)
def test_dark_is_what_is_seen_as_dark(colour: tuple[str, str, str], dark: bool) -> None:
    assert is_dark(*colour) is dark


@pytest.mark.parametrize(
    ("value", "dark"), [("0;15", False), ("15;0", True), ("0;default;7", False), ("x", None), ("", None), (None, None)]
)
def test_some_terminals_name_their_colours_in_the_environment(value: str | None, dark: bool | None) -> None:
    assert hinted_dark({} if value is None else {"COLORFGBG": value}) is dark


def keys_of(*sent: bytes) -> list[str]:
    """Return the names of the keys that are read from pieces that arrive one soon after the other."""
    told: list[Message] = []
    queries = TerminalQueries()
    queries.expect(UNASKED)
    reader = KeyReader(queries, told.append)
    for piece in sent:
        reader.read(piece)
    reader.pause()
    reader.end()
    return [message.key for message in told if isinstance(message, Key)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        ([b"\x1b", b"c"], ["escape", "c"]),
        ([b"\x1b", b":", b"a"], ["escape", "colon", "a"]),
        ([b"\x1b", "é".encode()], ["escape", "é"]),
        ([b"\x1b", b"\r"], ["escape", "enter"]),
        ([b"j\x1b", b"kk"], ["j", "escape", "k", "k"]),
        ([b"\x1b", b"\x1b", b"c"], ["escape", "escape", "c"]),
        ([b"\x1b", b"[A"], ["up"]),
        ([b"\x1b[", b"A"], ["up"]),
        ([b"\x1b", b"OP"], ["f1"]),
        ([b"\x1b", b"[A", b"c"], ["up", "c"]),
        ([b"\x1bd"], ["alt+d"]),
    ],
)
def test_a_letter_soon_after_escape_is_a_key_of_its_own_and_a_sequence_in_pieces_is_one(
    sent: list[bytes], keys: list[str]
) -> None:
    assert keys_of(*sent) == keys


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"\x1b[?997;1n", []),  # the colours were changed
        (b"\x1b[?62;4c", []),  # what kind of terminal it is
        (b"\x1b[?1u", []),  # how it reports keys
        (b"\x1b[>4;2m", []),
        (b"\x1b[8;24;80t", []),
        (b"\x1b[1;6I", []),
        (b"\x1bP>|tmux 3.4\x1b\\", []),
        (b"\x1bP1+r5463=" + b"3B" * 60 + b"\x1b\\", []),
        (b"\x1b_Gi=31;OK\x1b\\", []),
        (b"\x1b]4;1;rgb:0000/0000/0000\x07", []),
        (b"\x1b[99999999999u", []),
        (b"\x1b[55296u", []),
        (b"\x1b[1:2:3;;u", []),
        (b"\x1b[27;5;13~", ["ctrl+enter"]),
        (b"\x1b[27;5;115~", ["ctrl+s"]),
        (b"\x1b[27;6;9~", ["ctrl+shift+tab"]),
        (b"\x1b[115;5u", ["ctrl+s"]),
        (b"\x1b[[A", ["f1"]),
        (b"\x1b[3~", ["delete"]),
        (b"\x1b]", ["right_square_bracket"]),
        (b"\x1bP", ["alt+shift+p"]),
    ],
)
@pytest.mark.parametrize("cut", [0, 1, 3, 5])
def test_an_answer_that_nobody_here_asked_for_is_no_key(sent: bytes, keys: list[str], cut: int) -> None:
    after = [] if sent in {b"\x1b]", b"\x1bP"} else [b"k"]  # what comes with them may be more of an answer
    whole = ["j", *keys, *(["k"] if after else [])]
    assert keys_of(b"j" + sent[:cut], sent[cut:], *after) == whole


@pytest.mark.parametrize("sent", [b"\x1b[<0;5;6M", b"\x1b[<0;5;6m", b"\x1b[<32;5;6M", b"\x1b[<64;5;6M"])
def test_a_mouse_is_no_answer(sent: bytes) -> None:
    told: list[Message] = []
    KeyReader(TerminalQueries(), told.append).read(sent)
    assert [each.screen_offset for each in told if isinstance(each, MouseEvent)] == [Offset(4, 5)]


@given(st.text(st.sampled_from("\x1b[]PO_?;:0159<~$umMtcRIn\\\x07-"), max_size=60), st.integers(0, 60))
def test_whatever_a_terminal_sends_the_console_goes_on_reading(text: str, cut: int) -> None:
    sent = text.encode()
    for key in keys_of(sent[:cut], sent[cut:]):
        key.encode()


@given(
    st.text(st.sampled_from("ab\x1b[201~Oq\r\n\x07日"), max_size=60).filter(lambda text: "\x1b[201~" not in text),
    st.lists(st.integers(0, 500), max_size=6),
)
@example("abc\x1bq and more than the thirty-two characters of a sequence", [])
@example("\x1b[31mred\x1b[0m", [1, 12])
def test_a_paste_is_one_message_whatever_it_holds_and_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    told: list[Message] = []
    reader = KeyReader(Asked().queries, told.append)
    sent = f"j\x1b[200~{text}\x1b[201~k".encode()
    ends = [*sorted(cut % (len(sent) + 1) for cut in cuts), len(sent)]
    for start, end in zip([0, *ends], ends, strict=False):
        reader.read(sent[start:end])
    assert [(type(message), getattr(message, "key", None)) for message in told] == [
        (Key, "j"),
        (Paste, None),
        (Key, "k"),
    ]
    (pasted,) = [message.text for message in told if isinstance(message, Paste)]
    assert pasted == text.replace("\x1b", "␛").replace("\x07", "␇")


def test_half_of_what_begins_a_paste_is_keys_when_nothing_follows() -> None:
    told: list[Message] = []
    reader = KeyReader(TerminalQueries(), told.append)
    reader.read(b"a\x1b")
    assert [message.key for message in told if isinstance(message, Key)] == ["a"]
    reader.pause()
    assert [message.key for message in told if isinstance(message, Key)] == ["a", "escape"]
    assert reader.patience is None
    reader.read(b"\x1b[200~never ended")
    assert reader.patience is None
    reader.pause()
    assert len(told) == 2
