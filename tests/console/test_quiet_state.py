"""Marks as they are kept, times of snoozes as they are typed, and lists with threads at the top."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from console.panes.quiet_rows import ThreadsOnTop
from console.quiet.marks import KindOfMark, QuietMarks, row_mark
from console.quiet.snooze import Occurrence, Snooze
from console.quiet.times import due_words, offered_times, read_due
from console.state.database import StateDatabase
from mailstore.records.scope import url_of
from tests.mailboxes import NOW


def test_several_mailboxes_keep_their_marks_each_in_its_own(tmp_path: Path) -> None:
    database = StateDatabase(tmp_path / "state.db")
    one, both = "haak:/one", url_of({"lab": "haak:/one", "ops": "haak:/two"})
    marks = QuietMarks()
    snooze = Snooze(Occurrence.AGENT, NOW, about="lab/m1", agent="lab/ann", known=frozenset({"lab/m2"}))
    marks.change(
        {
            (KindOfMark.MUTED_CHANNEL, "project:lab/ink"): True,
            (KindOfMark.MUTED_AGENT, "lab/ann"): True,
            (KindOfMark.MUTED_TYPE, "lab/status"): True,
            (KindOfMark.STARRED_MESSAGE, "ops/m9"): True,
            (KindOfMark.SNOOZED_THREAD, "lab/m1"): snooze,
            row_mark("lab/m1", "dead\nlab/bob"): snooze,
        }
    )
    marks.save(database, both)
    alone = QuietMarks()
    alone.load(database, one)
    assert alone.names(KindOfMark.MUTED_CHANNEL) == ["project:ink"]
    assert (alone.names(KindOfMark.MUTED_AGENT), alone.names(KindOfMark.MUTED_TYPE)) == (["ann"], ["status"])
    assert alone.names(KindOfMark.STARRED_MESSAGE) == []
    assert alone.is_row_snoozed("m1", "dead\nbob")
    found = alone.snooze((KindOfMark.SNOOZED_THREAD, "m1"))
    assert found is not None
    assert (found.about, found.agent, found.known) == ("m1", "ann", {"m2"})
    again = QuietMarks()
    assert again.load(database, both)
    assert again.own_marks() == marks.own_marks()
    assert again.is_row_snoozed("lab/m1", "dead\nlab/bob")
    assert not again.is_row_snoozed("ops/m1", "dead\nops/bob")
    assert not again.load(database, both), "nothing differs"
    database.write("INSERT INTO own_marks VALUES (?, ?, ?, ?, ?)", [(one, "snoozed-thread", "m7", "{torn", 0.0)])
    database.write("INSERT INTO own_marks VALUES (?, ?, ?, ?, ?)", [(one, "from-the-future", "m7", "", 0.0)])
    assert not again.load(database, both), "what can't be read is left out"
    marks.change({(KindOfMark.STARRED_MESSAGE, "ops/m9"): False, (KindOfMark.STARRED_MESSAGE, "lab/\ud800"): True})
    assert not marks.load(database, both), "what is not saved yet is kept"
    marks.save(database, both)
    database.close()


def test_what_changes_while_marks_are_saved_is_saved_next(tmp_path: Path) -> None:
    marks, one, other = QuietMarks(), (KindOfMark.MUTED_AGENT, "ann"), (KindOfMark.MUTED_AGENT, "bob")

    class BusyDatabase(StateDatabase):
        def write_all(self, changes: Iterable[tuple[str, Iterable[tuple[Any, ...]]]]) -> None:
            if other not in marks:
                marks.change({one: False, other: True})  # which doesn't wait for the file
            super().write_all(changes)

    database = BusyDatabase(tmp_path / "state.db")
    marks.change({one: True})
    marks.save(database, "haak:/one")
    assert not marks.load(database, "haak:/one"), "what is not saved yet is kept"
    marks.save(database, "haak:/one")
    again = QuietMarks()
    again.load(database, "haak:/one")
    assert again.names(KindOfMark.MUTED_AGENT) == ["bob"]
    database.close()


def local(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("typed", "due"),
    [
        ("2h", "2026-03-18T17:00"),
        ("45 min", "2026-03-18T15:45"),
        ("16:30", "2026-03-18T16:30"),
        ("9:00", "2026-03-19T09:00"),
        ("tomorrow", "2026-03-19T09:00"),
        ("Tomorrow  14:15", "2026-03-19T14:15"),
        ("fri", "2026-03-20T09:00"),
        ("wednesday 10:00", "2026-03-25T10:00"),
        ("24.12.", "2026-12-24T09:00"),
        ("1.2. 8:00", "2027-02-01T08:00"),
        ("2026-04-01", "2026-04-01T09:00"),
        ("2026-04-01 12:00", "2026-04-01T12:00"),
        *(
            (text, "")
            for text in ("", "0h", "25:00", "yesterday", "2020-01-01", "today 9:00", "31.2.", "9999999w", "\x1b")
        ),
    ],
)
def test_a_time_to_come_is_read_as_people_write_it(typed: str, due: str) -> None:
    now = local("2026-03-18T15:00")
    assert read_due(typed, now) == (local(due) if due else None)


def test_times_are_offered_by_the_hour_and_the_day() -> None:
    names = [name for name, _ in offered_times(local("2026-03-18T15:00"))]
    assert names == ["in an hour", "this evening", "tomorrow morning", "on Monday"]
    found = dict(offered_times(local("2026-03-22T18:00")))  # a Sunday evening
    assert found == {"in an hour": local("2026-03-22T19:00"), "tomorrow morning": local("2026-03-23T09:00")}
    assert dict(offered_times(local("2026-03-16T08:00")))["on Monday"] == local("2026-03-23T09:00")
    now = local("2026-03-18T15:00")
    told = ["2026-03-18T18:00", "2026-03-19T09:00", "2026-03-23T09:00", "2026-05-01T09:00", "2028-01-01T09:00"]
    assert [due_words(local(text), now) for text in told] == [
        *("18:00", "tomorrow 09:00", "Mon 09:00", "1 May 09:00", "2028-01-01"),
    ]
    assert due_words(float("inf"), now) == "a later time"


def test_threads_on_top_are_a_list_like_any() -> None:
    rest = list("abcdef")
    for top in (["d"], ["f", "a"], ["x"], ["c", "x", "b"]):
        found, expected = ThreadsOnTop(top, rest), [*top, *(it for it in rest if it not in top)]
        assert list(found) == [found[at] for at in range(len(found))] == expected
        assert [found.index(root) for root in expected] == list(range(len(expected)))
        assert found[1:3] == expected[1:3]
        assert found[-1] == expected[-1]
        assert "x" in found or "x" not in top
        with pytest.raises(IndexError):
            found[len(expected)]
        with pytest.raises(ValueError, match="not in list"):
            found.index("nowhere")
