"""What a query finds, against a model that looks at everything in the plainest way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.errors import QueryError
from mailstore.memory import MemoryStore
from mailstore.queries.query import All, Either, Field, Not, Pattern, Query, Words, parse
from mailstore.queries.search import SearchContext, judged, search
from mailstore.records.events import Seen
from mailstore.records.message import Message, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.state.mailbox import Mailbox
from tests.mailboxes import DAY, HOUR, NOW, iso

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"
CODE = "Look:\n```python\nprint(1)\n```\n"


@cache
def store() -> MemoryStore:
    """Return a mailbox with every kind of message that a query can tell apart."""
    found = MemoryStore()
    found.append(
        Agent(ANN, name="Ann", role="librarian", tags=("project:ink",)),
        Agent(BOB, status=Status.DEAD, ended_at=NOW - HOUR),
        Agent(CID, tags=("concern:rules",)),
    )

    def add(message_id: str, sender: str, to: str | list[str], content: str, ago: float = HOUR, **more: object) -> None:
        fields = {"id": message_id, "sender": sender, "recipient": to, "content": content, "timestamp": iso(NOW - ago)}
        found.append({**fields, **more})

    add("red", ANN, CID, "The signal is RED.", subject="Signals")
    add("code", CID, "librarian", CODE, 2 * HOUR, type="question")
    add("file", CID, ["project:ink", "concern:rules"], "See ![plan](plan.png), Straße.", 3 * HOUR)
    add("answer", ANN, CID, "@user, @bob-00000001: done, red again.", HOUR / 2, thread="code", type="answer")
    add("lost", ANN, "nobody", "Is anyone there?", 4 * HOUR, thread="NOWHERE")
    add("wait", ANN, "role:phantom", "Waiting for a red ghost.", 5 * HOUR)
    add("dead", ANN, BOB, "Too late.", 2 * HOUR)
    add("old", CID, ANN, "Long ago red.", 3 * DAY)
    add("all", CID, "all", "Hear, hear.", HOUR / 4)
    add("mine", ANN, "user", "For you.", HOUR / 8, type="Question", tags=["urgent"])
    add("UPPER", ANN, CID, "Odd id.", timestamp="no time")
    found.append(Receipt("red", CID, NOW), Receipt("all", ANN, NOW))
    return found


@cache
def mailbox() -> Mailbox:
    found = Mailbox()
    for batch in MemoryStore(records=store().records).scan():
        found.fold(batch, NOW)
    found.fold([Seen("mine")], NOW)
    return found


def newest_first() -> list[Message]:
    return mailbox().messages()[::-1]


def test_a_name_that_somebody_has_stands_for_nobody_else() -> None:
    crowd = Mailbox()
    box = MemoryStore()
    box.append(Agent("decoder-1"), Agent("decoder-10"), Agent("x-1", role="decoder"))
    for name in ("decoder-1", "decoder-10", "x-1"):
        box.append({"id": name, "sender": name, "recipient": "all", "content": "x", "timestamp": iso(NOW - HOUR)})
    for batch in box.scan():
        crowd.fold(batch, NOW)
    context = SearchContext(crowd, lambda message: "", NOW)
    for asked, ids in (("decoder-1", {"decoder-1"}), ("decoder-", {"decoder-1", "decoder-10"}), ("decoder", {"x-1"})):
        hits = search(crowd.messages(), parse(f"from:{asked}", NOW), context)
        assert {message.id for message in hits} == ids, asked


def hits_of(query: Query, bodies: list[str]) -> Iterator[Message]:
    """Search the newest first; note whose bodies are read."""

    def body(message: Message) -> str:
        bodies.append(message.id)
        return store().content(message)

    return search(newest_first(), query, SearchContext(mailbox(), body, NOW))


def found(query: Query | str, bodies: list[str] | None = None) -> list[str]:
    """Return the ids of what a query finds."""
    asked = parse(query, NOW) if isinstance(query, str) else query
    return [message.id for message in hits_of(asked, [] if bodies is None else bodies)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("red", "answer red wait old"),
        ("RED signals", "red"),
        ("strasse", "file"),
        ("upper", "UPPER"),
        ("red -ghost", "answer red old"),
        ("ghost OR (red is:expired)", "wait old"),
        ('"red again"', "answer"),
        ('"look: ```python print(1)"', "code"),
        ('"look:```python"', ""),
        ("@user", "answer"),
        ("from:ann", "mine answer UPPER red dead lost wait"),
        ("from:librarian to:cid-0000", "answer UPPER red"),
        ("from:#", ""),
        ("from:@", ""),
        ("to:user", "mine answer"),
        ("to:bob-00000001", "dead"),
        ("to:librarian", "all code file old"),
        ("to:rules", "file"),
        ("tag:ink", "file"),
        ("#INK", "file"),
        ("tag:concern:rules", "file"),
        ("tag:urgent", "mine"),
        ("role:phantom", "wait"),
        ("type:question", "mine code"),
        ("thread:code", "answer code"),
        ("thread:answer", "answer code"),
        ("thread:NOWHERE", "lost"),
        ("thread:none", ""),
        ("subject:signal", "red"),
        ("is:question", "code"),
        ("is:answered", "code"),
        ("is:question -is:answered", ""),
        ("is:read", "all red"),
        ("is:dead", "dead"),
        ("is:waiting", ""),
        ("is:unknown", "lost wait"),
        ("is:expired", "old"),
        ("is:mentioned", "answer"),
        ("is:archived", ""),
        ("-is:unseen", "mine"),
        ("after:1h -to:user", "all red"),
        ("before:2d", "old"),
        ("has:code", "code"),
        ("has:attachment", "file"),
        ("has:link", ""),
        ("from:lib", "mine answer UPPER red dead lost wait"),
        ("from:c", "all code file old"),
        ("from:librarianx", ""),
        ("from:ibrarian", ""),
        ("to:li", "all code file old"),
        ("to:=librarian", "code"),
        ("from:=ann", ""),
        (f"from:={ANN}", "mine answer UPPER red dead lost wait"),
        ("type:=quest", ""),
        ("role:phan", "wait"),
        ("tag:in", "file"),
        ("#rul", "file"),
        ("tag:urg", "mine"),
        ("type:quest", "mine code"),
        ("type:answ", "answer"),
        ("id:RE", "red"),
        ("id:code", "code"),
        ("thread:cod", "answer code"),
        ("on:today after:1h", "mine all answer red"),
        ("on:2026-03-13", "old"),
    ],
)
def test_what_a_query_finds_comes_in_the_order_given(query: str, expected: str) -> None:
    assert found(query) == [message.id for message in newest_first() if message.id in expected.split()]


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("from:ann red", "mine UPPER dead lost"),
        ("has:code is:dead", "dead"),
        ("signals", "all answer code file lost wait dead old mine UPPER"),
        ("subject:signals OR red is:waiting", ""),
        ("-type:answer x y", "all red code file lost wait dead old mine UPPER"),
        ("is:read -red", "all"),
    ],
)
def test_a_body_is_read_once_and_only_where_the_header_leaves_it_open(query: str, read: str) -> None:
    bodies: list[str] = []
    found(query, bodies)
    assert sorted(bodies) == sorted(read.split())


@pytest.mark.parametrize(("words", "most"), [(1, 32), (64, 8), (3000, 1)])
def test_of_a_long_query_fewer_messages_are_examined_in_a_step(words: int, most: int) -> None:
    examined: list[str] = []

    class Noted(SearchContext):
        def decided(self, query: Query, message: Message) -> bool | Query:
            examined.append(message.id)
            return super().decided(query, message)

    query = parse(" OR ".join(["type:none"] * words), NOW)
    steps = judged(newest_first() * 4, query, Noted(mailbox(), lambda message: "", NOW))
    counts, before = [], 0
    for _ in steps:
        counts.append(len(set(examined[before:])) if words > 1 else len(examined) - before)
        before = len(examined)
    assert max(counts) == min(most, len(newest_first()) if words > 1 else most)


def test_hits_come_as_they_are_found() -> None:
    bodies: list[str] = []
    hits = hits_of(parse("signals", NOW), bodies)
    assert bodies == []
    assert next(hits).id == "red"
    assert 0 < len(bodies) < len(newest_first())


def test_a_pattern_that_takes_too_long_ends_the_search_and_says_how_to_write_it() -> None:
    slow = SearchContext(mailbox(), lambda message: "a" * 60 + "b", NOW)
    with pytest.raises(QueryError, match=r"/\(a\|aa\)\+\$/ takes too long on a message") as caught:
        list(search(newest_first(), parse("/(a|aa)+$/", NOW), slow))
    assert "repetitions" in caught.value.remedy


# The model

terms: st.SearchStrategy[Query] = st.one_of(
    st.sampled_from(["red", "RED", "signal", "ann", "there", "straße", "absent"]).map(Words),
    st.sampled_from(["red", "re", "is red", "STRASSE", "![plan]"]).map(Pattern.of_word),
    st.sampled_from(["^see", r"r[aeiou]d\W", r"\bann\b", r"\Wann-0+1$", "strasse"]).map(Pattern),
    st.sampled_from([10, 30, 1_000]).map(lambda number: Field("larger", str(number), size=number)),
    st.sampled_from([ANN, "ann", "cid-0000", "librarian"]).map(lambda name: Field("from", name)),
    st.sampled_from(["question", "answer", ""]).map(lambda name: Field("type", name)),
    st.sampled_from(["unread", "read", "dead", "expired", "waiting", "unknown"]).map(lambda name: Field("is", name)),
    st.sampled_from(["ink", "#rules", "project:ink", "urgent"]).map(lambda name: Field("tag", name)),
    st.sampled_from(["code", "attachment"]).map(lambda name: Field("has", name)),
    st.builds(Field, st.sampled_from(["before", "after"]), st.just(""), st.sampled_from([NOW - HOUR, NOW - DAY])),
)
queries: st.SearchStrategy[Query] = st.recursive(
    terms,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: All(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Either(tuple(parts))),
    ),
    max_leaves=8,
)


def holds(query: Query, message: Message) -> bool:
    """Say whether a message is what a query asks for, looking at everything every time."""
    text = store().content(message).casefold()
    match query:
        case Words(words):
            header = [message.id, message.sender, *message.recipients, message.subject]
            return words.casefold() in "\n".join([*header, text]).casefold()
        case Pattern(source, word):
            header = [message.subject, message.id, message.sender, *message.recipients, *message.tags]
            if word:
                source = rf"(?:^|(?<=\W)){re.escape(word.casefold())}(?:$|(?=\W))"
            return any(
                re.search(source, each.casefold(), re.IGNORECASE | re.MULTILINE) for each in ("\n".join(header), text)
            )
        case Field("larger", _, size=size):
            return len(text) > size
        case Not(part):
            return not holds(part, message)
        case All(parts):
            return False not in [holds(part, message) for part in parts]
        case Either(parts):
            return True in [holds(part, message) for part in parts]
        case Field("from", name):
            names = {ANN: [ANN, "ann", "librarian"], CID: [CID, "cid-0000"]}
            return name.casefold() in names[message.sender]
        case Field("type", name):
            return message.type.casefold() == name
        case Field("is", name):
            return name in [standing.state for standing in mailbox().states(message, NOW).values()]
        case Field("tag", name):
            tags = {"ink": "file", "#rules": "file", "project:ink": "file", "urgent": "mine"}
            return tags[name] == message.id
        case Field("has", "code"):
            return message.id == "code"
        case Field("has", _):
            return message.id == "file"
        case Field("before", _, moment):
            return message.id != "UPPER" and message.time < moment
        case Field("after", _, moment):
            return message.id != "UPPER" and message.time >= moment
    raise AssertionError(query)


@given(queries)
def test_a_search_finds_what_the_model_finds(query: Query) -> None:
    assert found(query) == [message.id for message in newest_first() if holds(query, message)]
