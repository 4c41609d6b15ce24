"""With an index of its words the same is found in a mailbox, and the index is never trusted where it does not fit."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.haak import HaakStore
from mailstore.haak.search import candidates, word_index
from mailstore.haak.search.candidates import BackgroundIndex
from mailstore.haak_records import line_filter
from mailstore.queries.query import Words
from tests.mailboxes import MailFiles
from tests.mailstore.looking_up import ANN, BOB, Found, lines, messages, written


def make_index(mail: MailFiles, folder: Path) -> None:
    """Make the index as the program does that is started for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "started", lambda file, asked, out: word_index.make(*asked))
        BackgroundIndex(mail.mailbox, folder).bring_up()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an index of a small file, of small parts."""
    monkeypatch.setattr(word_index, "PART", 512)
    monkeypatch.setattr(word_index, "LEAST_BYTES", 600)
    monkeypatch.setattr(word_index, "STALE_BYTES", 600)


@given(st.lists(lines(), max_size=12), st.data())
def test_with_an_index_the_same_is_found(given_lines: list[bytes], data: st.DataObject) -> None:
    with written([given_lines, [], []]) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in (("PART", 256), ("LEAST_BYTES", 300), ("STALE_BYTES", 300)):
            patch.setattr(word_index, name, value)
        patch.setattr(candidates, "started", lambda file, asked, out: word_index.make(*asked))
        found.store.keep_index(Path(found.store.url.removeprefix("haak:")).parent / "cache")
        for _ in range(4):
            text = found.text(data.draw(st.sampled_from(found.mailbox.messages()))) if len(found.mailbox) else "x"
            begin = data.draw(st.integers(0, max(0, len(text) - 1)))
            word = text[begin : begin + data.draw(st.integers(1, 12))]
            assert sorted(found.by_bytes(Words(word))) == sorted(found.plainly(Words(word))), word


@pytest.fixture
def looked_through(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many bytes are looked through."""
    sizes: list[int] = []
    keep = line_filter.LineFilter.keep
    monkeypatch.setattr(
        line_filter.LineFilter, "keep", lambda self, at, data: sizes.append(len(data)) or keep(self, at, data)
    )
    return sizes


@pytest.mark.usefixtures("small")
def test_an_index_spares_looking_and_is_followed_by_what_came_after_it(
    tmp_path: Path, looked_through: list[int]
) -> None:
    mail, cache = messages(tmp_path), tmp_path / "cache"
    make_index(mail, cache)
    store = HaakStore.open(mail.data)
    store.keep_index(cache)
    mail.message("late", ANN, BOB, "Late.\nHeureka again.")
    found = Found(store)
    for word, hits in (("heureka", ["late", "m150", "m3"]), ("nowhere", []), ("again", ["late"])):
        looked_through.clear()
        assert found.by_bytes(Words(word)) == hits
        assert sum(looked_through) < (4000 if hits else 1000), word
    assert sorted(each.name for each in mail.data.iterdir()) == ["agent-mailbox.jsonl", "agent-roster.jsonl"]
    store.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("harm", ["replaced", "rewritten", "damaged", "torn", "version", "gone"])
def test_an_index_that_does_not_fit_is_not_used_and_made_anew(harm: str, tmp_path: Path) -> None:
    mail, cache = messages(tmp_path), tmp_path / "cache"
    make_index(mail, cache)
    path = next(each for each in cache.iterdir() if not each.suffix)
    data = mail.mailbox.read_bytes()
    if harm == "replaced":
        mail.mailbox.unlink()
        mail.mailbox.write_bytes(data.replace(b"usual", b"heure") + data)
    elif harm == "rewritten":
        mail.mailbox.write_bytes(data[: len(data) // 2].replace(b"usual", b"heureka") + b"\n" + data)
    elif harm == "gone":
        path.unlink()
    else:
        whole = path.read_bytes()
        path.write_bytes({"damaged": b"x" * 99, "torn": whole[:-9], "version": b"y" + whole}[harm])
    with HaakStore.open(mail.data) as store:
        store.keep_index(cache)
        found = Found(store)
        for word in ("heureka", "heure", "nowhere"):
            assert set(found.by_bytes(Words(word))) == found.plainly(Words(word))
    make_index(mail, cache)
    remade = word_index.load(str(path))
    assert remade is not None
    with mail.mailbox.open("rb") as file:
        assert remade.fits(file.fileno())


@pytest.mark.usefixtures("small")
def test_one_program_makes_the_index_and_it_is_brought_up_when_enough_came(tmp_path: Path) -> None:
    mail, cache = messages(tmp_path), tmp_path / "cache"
    cache.mkdir()
    index = BackgroundIndex(mail.mailbox, cache)
    path = index._path
    with Path(f"{path}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_index(mail, cache)
        assert not path.exists()
    make_index(mail, cache)
    first = word_index.load(str(path))
    messages(tmp_path, 3)
    make_index(mail, cache)
    messages(tmp_path, 50)
    make_index(mail, cache)
    last = word_index.load(str(path))
    assert first is not None
    assert last is not None
    assert first.starts == last.starts[: len(first.starts)]
    assert mail.mailbox.stat().st_size - last.end < 600


@pytest.mark.usefixtures("small")
def test_an_index_ends_where_its_words_would_take_too_much_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, cache = messages(tmp_path), tmp_path / "cache"
    size = mail.mailbox.stat().st_size
    for number in range(40):
        mail.message(f"n{number}", ANN, BOB, " ".join(f"word{number}x{other}" for other in range(9)))
    mail.message("last", ANN, BOB, "Heureka again.")
    monkeypatch.setattr(word_index, "MOST_MEMORY", 120_000)
    for _ in range(2):  # the second time nothing is made anew
        make_index(mail, cache)
    path = next(each for each in cache.iterdir() if not each.suffix)
    index = word_index.load(str(path))
    assert index is not None
    assert index.is_full
    assert size < index.end < mail.mailbox.stat().st_size - 600
    assert not word_index.is_stale(index, 1 << 40)
    with HaakStore.open(mail.data) as store:
        store.keep_index(cache)
        found = Found(store)
        for word, hits in (("heureka", ["last", "m150", "m3"]), ("word39x8", ["n39"]), ("nowhere", [])):
            assert found.by_bytes(Words(word)) == hits


def test_the_index_is_made_by_another_process_that_ends_with_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, cache = messages(tmp_path), tmp_path / "cache"
    mail.mailbox.write_bytes(mail.mailbox.read_bytes() * 120)
    monkeypatch.setattr(word_index, "LEAST_BYTES", mail.mailbox.stat().st_size)
    store = HaakStore.open(mail.data)
    store.keep_index(cache)
    index = store._hints()._index
    assert index is not None
    assert index._making is not None
    assert index._making.wait() == 0
    found = word_index.load(str(index._path))
    assert found is not None
    assert mail.mailbox.stat().st_size - found.end < word_index.PART
    assert found.ranges([b"heureka"], []) == found.ranges([b"message"], [])
    assert found.ranges([b"nowhere"], []) == []
    assert found.ranges([b"00000001"], []) is None
    store.close()
