"""Usual lines are decoded at once, all others with care: both say the same of every line that both can read."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from mailstore.files.lines import Line
from mailstore.files.salvage import salvage
from mailstore.haak_records.decode import MessageDecoder, agent_of, decode_agent, decode_line
from mailstore.haak_records.usual import MOST_FORMS, UsualMessages
from mailstore.haak_records.values import AGENT, MESSAGE

STAMP = "2026-11-20T21:50:15.000Z"
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "sender": st.sampled_from(["ann-00000001", "librarian"]),
    "recipient": st.sampled_from(
        ["bob-00000001", "all", "project:ink, project:red", ["bob-00000001", "role:a", "all"]]
    ),
    "content": st.sampled_from(["", "A text.", "@bob, look.", "  \n First\nsecond", "Grün 灯", 7]),
    "timestamp": st.sampled_from([STAMP, "2026-11-20 21:50:15", 1_790_000_000, "soon"]),
    "thread": st.sampled_from([None, "", "m0"]),
    "ttl_hours": st.sampled_from([None, 4, 0.5, 0, "many"]),
}
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "subject": st.sampled_from([None, "", " ", "About ink"]),
    "type": st.sampled_from([None, "question", 3]),
    "tags": st.sampled_from([None, [], ["a", "b"]]),
    "read_by": st.sampled_from([[], ["bob-00000001"]]),
    "metadata": st.sampled_from([{}, {"n": [1, {}]}]),
    "priority": st.integers(),
    "odd name": st.none(),
}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Return a record in a dialect of its own, perhaps with a field given twice, or foreign ones."""
    found: dict[str, Any] = {"id": draw(st.sampled_from(["m1", "m1", 7]))}
    for field, values in VALUES.items():
        for name in draw(
            st.lists(st.sampled_from(MESSAGE[field]), min_size=1, max_size=2 if draw(st.booleans()) else 1)
        ):
            found[name] = draw(values)
    chosen = draw(st.sets(st.sampled_from(sorted(OTHERS))))
    return found | {name: draw(OTHERS[name]) for name in sorted(chosen)}


TEXTS, STAMPS = (
    ["a", " ann ", "role:a", "Grün 灯", "\x00", ""],
    [STAMP, "2026-11-20 21:50:15", "1790000000", "soon", None],
)
AGENT_VALUES: dict[str, list[Any]] = {
    "session_id": ["ann-00000001", ""],
    "status": ["living", "Frozen", "dead", "buried", "idle", "odd"],
    "tags": [[], ["project:ink", "a", "a"], ["", " b "]],
    **dict.fromkeys(("name", "role", "activity"), TEXTS),
    **dict.fromkeys(("started_at", "ended_at", "last_seen", "updated"), STAMPS),
}
ODD_VALUES = [None, 7, True, ["a", 1], {}, "a, b", 1_790_000_000, "", " idle"]
ENDS = [("", ""), ("", ""), ("\ufeff", ""), (" ", " "), ("", "\r"), ("", "}"), ("x", ""), ("", "{}")]


@st.composite
def roster_lines(draw: st.DrawFn) -> bytes:
    """Return a line about an agent; some of its fields may be odd, foreign, or given twice."""
    fields = list[str]()
    odd = draw(st.sets(st.sampled_from(sorted(AGENT_VALUES)), max_size=2))
    for field, values in AGENT_VALUES.items():
        names = draw(st.lists(st.sampled_from((field, *AGENT[field])), max_size=2)) if field in odd else [field]
        for name in names:
            value = draw(st.sampled_from(ODD_VALUES if field in odd else values))
            fields.append(f"{json.dumps(name)}:{json.dumps(value)}")
    fields += draw(st.sampled_from([[], [], ['"more":1'], ['"frozen_spells":[[null,null]]']]))
    start, end = draw(st.sampled_from(ENDS))
    text = ",".join(draw(st.permutations(fields)))
    line = f"{start}{{{text}}}{end}".encode()
    return line.replace(*draw(st.sampled_from([(b"", b"")] * 3 + [(b"a", b"\xe9"), (b" ", b"\xed\xa0\x80")])))


@given(roster_lines())
@example(b'{"session_id":"ann-00000001","status":"living","tags":["a"," b ","a",""]}')
@example(b'{"session_id":"","status":"living"}')
@example(b'{"session_id":"ann-00000001","status":"living"}\r')
@example(b'{"session_id":"ann-00000001","status":"living","name":"\xff"}')
def test_a_usual_line_of_a_roster_says_the_same_as_if_it_were_decoded_with_care(line: bytes) -> None:
    assert decode_agent("roster", Line(9, line), 3) == decode_line("roster", Line(9, line), 3, agent_of)


def said_with_care(line: bytes) -> Any:
    [piece], _ = salvage(Line(0, line))
    return MessageDecoder("box").message(piece)


@given(st.lists(records(), min_size=1, max_size=12))
def test_a_usual_line_says_the_same_as_if_it_were_decoded_with_care(given_records: list[dict[str, Any]]) -> None:
    decoder, usual = MessageDecoder("box"), UsualMessages()
    for record in given_records:
        line = json.dumps(record).encode()
        if usual.one(line) is not None:
            messages, problems = decoder.decode(Line(0, line), 1)
            message, warnings = said_with_care(line)
            assert (messages, [problem.reason for problem in problems]) == ([message], warnings) or not message.timed


def test_the_names_of_any_program_are_usual_and_some_of_them_at_once() -> None:
    usual = UsualMessages()
    dialects = [dict(zip(MESSAGE, names, strict=True)) for names in product(*MESSAGE.values())]
    base = {"sender": "ann", "recipient": "bob", "content": "x", "timestamp": STAMP, "thread": "m0", "ttl_hours": 4}
    lines = [
        json.dumps({"id": f"m{at}", **{names[field]: value for field, value in base.items()}}).encode()
        for at, names in enumerate(dialects)
    ]
    assert len(lines) > MOST_FORMS
    known = [at for at, line in enumerate(lines) if usual.one(line) is not None]
    assert known == list(range(MOST_FORMS))
    assert all(MessageDecoder("box").decode(Line(0, line), 1)[0][0].thread == "m0" for line in lines)


def test_a_field_that_is_given_twice_is_decoded_with_care() -> None:
    line = json.dumps({"id": "m", "sender": "a", "from": "a", "recipient": "b", "timestamp": STAMP, "content": "x"})
    assert UsualMessages().one(line.encode()) is None


def test_a_foreign_field_is_usual_and_learnt_once() -> None:
    usual = UsualMessages()
    base = {"id": "m", "sender": "a", "recipient": "b", "timestamp": STAMP, "content": "x"}
    for extra in ({"priority": 1}, {"priority": {"deep": []}, "color": None}, {}, {"color": "red"}):
        found = usual.one(json.dumps(base | extra).encode())
        assert found is not None
        assert (found.id, found.content) == ("m", "x")
