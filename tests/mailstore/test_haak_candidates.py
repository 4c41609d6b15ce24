"""Whatever stands in the files, and however: what is looked up by its bytes is what looking at everything finds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.delegating import ReadOnly
from mailstore.haak import HaakStore
from mailstore.haak.search import candidates
from mailstore.haak_records import line_filter
from mailstore.haak_records.search_pattern import FOLDED, pattern_of
from mailstore.queries.query import All, Either, Not, Words, parse
from mailstore.queries.search import look_up, needed
from mailstore.several import SeveralStore
from mailstore.several.part import SeveralPart
from tests.mailboxes import NOW, damaged
from tests.mailstore.looking_up import ANN, BOB, Found, lines, messages, texts, written


def test_every_character_that_folds_into_ascii_is_known() -> None:
    others = map(chr, (code for code in range(128, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000))
    folded = {char: other for char in others if (other := char.casefold()) != char}
    assert {char: other for char, other in folded.items() if any(c.isascii() for c in other)} == FOLDED


@given(st.lists(st.lists(lines(), max_size=4), min_size=3, max_size=3), st.data())
def test_what_is_looked_up_is_what_looking_at_everything_finds(files: list[list[bytes]], data: st.DataObject) -> None:
    with written(files) as found, pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_filter, "BLOCK", 64)
        there = [""]
        for message in found.mailbox.messages():
            there += (message.id, message.sender, *message.recipients, message.subject, found.text(message))
        for _ in range(4):
            text = data.draw(st.sampled_from(there) | texts)
            begin = data.draw(st.integers(0, max(0, len(text) - 1)))
            word = text[begin : begin + data.draw(st.integers(1, 12))]
            word = data.draw(st.sampled_from([word, word.casefold(), word.upper()]))
            hits = found.by_bytes(Words(word))
            assert sorted(hits) == sorted(found.plainly(Words(word))), word


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        (b'"content": {"thread": "red"}', "thread"),
        (b'"content": {"x": {"thread": "red"}}', "red"),
        (b'"content": ["2026-03", {"time": "2026-03"}]', "2026-03"),
        (b'"content": {"x": "a\\u000afoo"}', "nfoo"),
        (b'"content": {"x": "a\\u0008foo"}', "bfoo"),
        (b'"content": 1e3', "1000"),
        (b'"content": [12.50, 1E2]', "100.0"),
        (b'"content": NaN', "nan"),
        (b'"content": [null]', "null"),
        (b'"sender": 1e3, "content": "x"', "1000.0"),
        (b'"recipient": ["bob", 1e3], "content": "x"', "1000.0"),
        (b'"id": null, "content": "x"', "line:"),
        (b'"id": null, "content": "x"', "\nli"),
        (b'"id": 1.5, "content": "x"', "ine"),
        (b'"id": 1.5, "content": "x"', "e"),
        (b'"content": "\\u00df"', "ss"),
        (b'"content": "ma\\uFB00le"', "maffle"),
        (b'"content": "\\ud83d\\ude00 \\u006Bin"', "kin"),
        (b'"content": "a\\\\u0062c"', "u0062c"),
        ('"content": "Maﬂon"'.encode(), "flo"),
        ('"content": "I\\u0307 İnk"'.encode(), "i\u0307nk"),
        (b'"content": "C:\\/tmp\\/x"', "/tmp/"),
    ],
)
def test_what_is_not_written_as_it_is_read_is_found(fields: bytes, word: str) -> None:
    base = {b'"id"': b'"id": "odd"', b'"sender"': b'"sender": "x"', b'"recipient"': b'"recipient": "y"'}
    line = b", ".join([*(given for name, given in base.items() if name not in fields), fields])
    with written([[b"{" + line + b"}\n"], [], []]) as found:
        assert len(found.plainly(Words(word))) == 1
        assert found.by_bytes(Words(word)) == [*found.plainly(Words(word))]


# What it spares, and what it does when it can't tell


def test_only_texts_that_may_hold_the_word_are_read(tmp_path: Path) -> None:
    found = Found(HaakStore.open(messages(tmp_path).data))
    assert found.by_bytes(parse("heureka", NOW)) == ["m150", "m3"]
    assert found.read == ["m150", "m3"]
    for word in ("sender", "2026-03", "null", "hread", "content"):
        assert found.by_bytes(Words(word)) == [] == found.read, word


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("red", ("red",)),
        ("red lamps", ("lamps",)),
        ("red OR lamps", ("red", "lamps")),
        ("(red OR ok) lamps", ("lamps",)),
        ("red -lamps", ("red",)),
        ("from:ann red", ("red",)),
        ("from:ann OR red", ()),
        ("-red", ()),
        ("subject:red is:unread", ("red",)),
    ],
)
def test_which_words_every_hit_needs(query: str, words: tuple[str, ...]) -> None:
    assert needed(parse(query, NOW)) == words


@pytest.mark.parametrize("word", ["Ж", "…", "x", "ß", ""])
def test_a_word_of_which_the_bytes_tell_nothing_is_looked_for_in_every_message(word: str, tmp_path: Path) -> None:
    mail = messages(tmp_path)
    mail.message("odd", ANN, BOB, "Ж… x ß")
    found = Found(HaakStore.open(mail.data))
    assert (pattern_of(word) is None) == (word != "ß")
    assert set(found.by_bytes(Words(word))) == found.plainly(Words(word)) != set()


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a small file to several processes too."""
    monkeypatch.setattr(candidates, "TAIL_BYTES", 1000)
    monkeypatch.setattr(candidates, "PART_BYTES", 5000)
    monkeypatch.setattr("os.cpu_count", lambda: 3)


@pytest.mark.usefixtures("in_parts")
def test_a_big_file_is_looked_through_by_several_processes_from_its_end(tmp_path: Path) -> None:
    mail = messages(tmp_path)
    mail.message("escaped", ANN, BOB, "\\heure\N{KELVIN SIGN}a")
    mail.line(b'{"id": "e", "sender": "x", "recipient": "y", "content": "\\u0068eureka"}\n')
    found = Found(HaakStore.open(mail.data))
    for _ in range(2):
        assert found.by_bytes(Words("heureka")) == ["e", "escaped", "m150", "m3"]
        assert found.by_bytes(Words("usual")) == [f"m{at}" for at in reversed(range(200))]


@pytest.mark.usefixtures("in_parts")
def test_what_a_file_is_free_of_is_learnt_once_and_holds_while_it_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    begin = candidates.SearchProcess.__init__
    monkeypatch.setattr(
        candidates.SearchProcess, "__init__", lambda part, *its: asked.append(its[3]) or begin(part, *its)
    )
    mail = messages(tmp_path)
    found = Found(HaakStore.open(mail.data))

    def told(word: str) -> set[int]:
        asked.clear()
        assert set(found.by_bytes(Words(word))) == found.plainly(Words(word))
        return set(asked)

    assert [told("heureka"), told("heureka"), told("2026-03"), told("2026-03")] == [{0}, {1}, {1}, {3}]
    mail.message("more", ANN, BOB, "Heureka, more.")
    assert told("heureka") == {3}
    for at in range(20):
        mail.message(f"n{at}", ANN, BOB, f"More and more {at}.")
    assert [told("heureka"), told("moreover"), told("heureka")] == [{0}, {1}, {1}]
    whole = mail.mailbox.read_bytes()
    mail.mailbox.write_bytes(whole.replace(b"More", b"M\\u006fre"))
    assert [told("moreo"), told("heureka")] == [{0}, {0}]
    mail.mailbox.unlink()
    (tmp_path / "another").write_bytes(whole)
    (tmp_path / "another").rename(mail.mailbox)
    assert told("heureka") == {0}


@pytest.mark.usefixtures("in_parts")
def test_a_search_that_is_given_up_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[candidates.SearchProcess] = []
    monkeypatch.setattr(candidates.SearchProcess, "__enter__", lambda part: begun.append(part) or part)
    found = Found(HaakStore.open(messages(tmp_path).data))
    batches = look_up(Words("usual"), found.context(), found.store.candidates)
    while not begun:
        next(batches)
    batches.close()
    assert len(begun) > 1
    assert all(part._process.poll() is not None for part in begun)


@pytest.mark.usefixtures("in_parts")
def test_where_a_process_fails_every_message_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_filter, "__file__", str(tmp_path / "nowhere.py"))
    found = Found(HaakStore.open(messages(tmp_path).data))
    assert found.by_bytes(Words("heureka")) == ["m150", "m3"]


def test_mail_whose_file_is_gone_is_found_by_its_header(tmp_path: Path) -> None:
    mail = messages(tmp_path, 3)
    found = Found(HaakStore.open(mail.data))
    mail.mailbox.unlink()
    assert set(found.by_bytes(Words(ANN))) == {"m0", "m1", "m2"}


def test_what_came_after_the_fold_is_no_hit_and_damage_hides_nothing(tmp_path: Path) -> None:
    mail = damaged(tmp_path)
    found = Found(HaakStore.open(mail.data))
    for query in (
        Words("the"),
        Words("an"),
        Not(Words("the")),
        All((Words("an"), Words("the"))),
        Either((Words("a"),)),
    ):
        assert set(found.by_bytes(query)) == found.plainly(query)
    mail.message("later", ANN, BOB, "thereafter")
    assert found.by_bytes(Words("thereafter")) == []


# Other stores before it


@pytest.mark.parametrize("word", ["heureka", "lab", "b/ann", "all", "lab/m3", "role:lab", "usual", "nowhere"])
def test_several_mailboxes_are_asked_each_for_itself(word: str, tmp_path: Path) -> None:
    mail, other = messages(tmp_path / "a", 20), messages(tmp_path / "b", 5)
    mail.message("wide", ANN, "broadcast", "To each.")
    parts = [
        SeveralPart("lab", mail.url),
        SeveralPart("desk", other.url),
        SeveralPart("memory", "memory:"),
        SeveralPart("none", "haak:/nowhere"),
    ]
    found = Found(SeveralStore(parts))
    assert set(found.by_bytes(Words(word))) == found.plainly(Words(word))
    assert bool(found.plainly(Words(word))) == (word not in ("nowhere", "role:lab"))


def test_a_mailbox_that_is_only_looked_at_gives_hints_too(tmp_path: Path) -> None:
    found = Found(ReadOnly(HaakStore.open(messages(tmp_path).data), "a copy"))
    assert found.by_bytes(Words("heureka")) == found.read == ["m150", "m3"]
