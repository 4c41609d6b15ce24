"""The nearest spelling that occurs: of words in subjects and texts, of names; nothing where nothing is near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator

import pytest

from mailstore.memory import MemoryStore
from mailstore.queries import spelling
from mailstore.queries.query import parse
from mailstore.queries.search_context import SearchContext
from mailstore.queries.spelling import nearest_spelling, respelled
from mailstore.records.roster import Agent
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, at_once
from tests.mailboxes import NOW, iso


def box() -> tuple[MemoryStore, Mailbox]:
    store, mailbox = MemoryStore(), Mailbox()
    store.append(Agent("librarian-7", role="librarian"), Agent("ann-00000001", name="Ann"))
    for number, (subject, text) in enumerate(
        [("Nightly ingest", "The lamp is green."), ("Catalogue", "Straße and Ferry."), ("", "İstanbul: the ferry.")]
    ):
        fields = {"id": f"m{number}", "sender": "librarian-7", "recipient": "project:inscription", "subject": subject}
        store.append({**fields, "content": text, "timestamp": iso(NOW - number)})
    for batch in store.scan():
        mailbox.fold(batch, NOW)
    return store, mailbox


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ("lmap", ["lamp"]),
        ("Lapm -green", ["lamp -green"]),
        ("nigthly ingest", ["nightly ingest"]),
        ("ferri OR catalog", ["ferry OR catalog"]),
        ('"the frery"', ['"the ferry"']),
        ("subject:catalouge", ["subject:catalogue"]),
        ("from:libraian", ["from:librarian"]),
        ("#inscritpion", ["#inscription"]),
        ("strase", ["strasse"]),
        ("lamp ferry", []),
        ("lamp or nowhere", ["lamp OR nowhere"]),
        ("xyzzy or plugh", []),
        ("lamp and green", ["lamp green"]),
        ("lamp && green", ["lamp green"]),
        ("lamp not xyzzy", ["lamp -xyzzy"]),
        ('"lamp and green"', []),
        ("colour:green", ["green"]),
        ("colour:green and (subject:ingest or not lamp)", ["green (subject:ingest OR -lamp)"]),
        ("text:lamp or (green and ferry)", ["lamp OR (green ferry)"]),
        ("lamp is:dead", []),
        ("xyzzyplugh", []),
        ("is:dead", []),
        ("ab", []),
        ("-lmap", []),
        ("x" * 10_000, []),
        (" ".join(["lmap"] * 500), [" ".join(["lamp", *["lmap"] * 499])]),
    ],
)
def test_the_nearest_spelling_that_occurs(text: str, better: list[str]) -> None:
    store, mailbox = box()
    context = SearchContext(mailbox, store.content, NOW)
    assert list(at_once(respelled(text, parse(text, NOW), context, lambda words: None))) == better


def test_of_two_that_are_equally_near_the_more_frequent_one_is_offered() -> None:
    steps = nearest_spelling("lamb", Counter({"lame": 2, "lamp": 5, "limb": 1, "labyrinth": 9}))
    found = ""

    def going() -> Generator[object, None, None]:
        nonlocal found
        found = yield from steps

    assert list(going()) == [None]
    assert found == "lamp"


def test_words_of_texts_of_any_length_are_gathered_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []
    is_aside = False
    words = spelling._words

    def noted(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            asked.append((text, is_aside))
            yield from words([text])

    monkeypatch.setattr(spelling, "_words", noted)
    store, mailbox = box()
    context = SearchContext(mailbox, store.content, NOW)
    for step in respelled("lmap", parse("lmap", NOW), context, lambda words: None):
        if isinstance(step, BackgroundWork):
            is_aside = True
            step.do()
            is_aside = False
    assert ("Nightly ingest", True) in asked
    assert all(aside for _, aside in asked)
