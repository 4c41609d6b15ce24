"""Parts that are read whole and anew: each event is told once, and what is lost is told as a reset."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import ids, of
from mailstore.kit.part_reader import PartReader, PartSource
from mailstore.records.events import Event, Gone, Progress, Reset
from mailstore.records.message import Message, Problem, Receipt
from mailstore.records.roster import Agent


def mail_item(message_id: str, time: float = 0.0, subject: str = "") -> Message:
    return Message(message_id, "ann", ("bob",), "", time, subject)


class Shelf(PartSource):
    """Parts in memory; a part that is None is half-written."""

    def __init__(self, **parts: list[Event] | None) -> None:
        self.held: dict[str, list[Event] | None] = dict(parts)
        self.version: dict[str, int] = {}
        self.is_gone = False
        self.moves: list[tuple[str, str]] = []
        self.read_count = 0

    def put(self, part: str, events: list[Event] | None) -> None:
        self.held[part] = events
        self.version[part] = self.version.get(part, 0) + 1

    def parts(self, *, closely: bool) -> Mapping[str, Hashable]:
        if self.is_gone:
            raise OSError(2, "No such file")
        found = {part: self.version.get(part, 0) for part in self.held}
        for old, new in self.moves:
            # the names were read before it went to its new place, and after it left the old one
            del found[old]
            self.held[new] = self.held.pop(old)
        self.moves = []
        return found

    def read(self, part: str) -> list[Event] | None:
        self.read_count += 1
        return self.held[part]


def scanned(reader: PartReader) -> list[Event]:
    return [event for batch in reader.scan() for event in batch if not isinstance(event, Progress)]


def changed(reader: PartReader, *, has_changed: bool = True) -> list[Event]:
    return [event for batch in reader.changes(has_changed) for event in batch if not isinstance(event, Progress)]


def test_what_is_new_is_told_once_and_nothing_is_read_again() -> None:
    shelf = Shelf(a=[mail_item("1")], b=[mail_item("2"), mail_item("1")])
    reader = PartReader(shelf)
    assert ids(scanned(reader)) == {"1": 1, "2": 1}
    reads = shelf.read_count
    assert changed(reader) == []
    assert shelf.read_count == reads
    shelf.put("b", [mail_item("2"), mail_item("1"), mail_item("3"), Receipt("1", "bob")])
    assert changed(reader) == [mail_item("3"), Receipt("1", "bob")]
    shelf.put("c", [mail_item("5", 5.0), mail_item("4", 4.0)])
    assert changed(reader) == [mail_item("4", 4.0), mail_item("5", 5.0)]


def test_what_another_part_still_holds_is_not_lost() -> None:
    shelf = Shelf(a=[mail_item("1")], b=[mail_item("1")])
    reader = PartReader(shelf)
    scanned(reader)
    del shelf.held["a"]
    assert changed(reader) == []
    del shelf.held["b"]
    events = changed(reader)
    assert isinstance(events[0], Reset)
    assert "no longer there" in events[0].reason
    assert not of(Message, events)


def test_what_changed_is_told_anew_after_a_reset() -> None:
    shelf = Shelf(a=[mail_item("1", subject="old")], b=[mail_item("2")])
    reader = PartReader(shelf)
    scanned(reader)
    shelf.put("a", [mail_item("1", subject="new")])
    events = changed(reader)
    assert isinstance(events[0], Reset)
    assert {message.subject for message in of(Message, events[1:]) if message.id == "1"} == {"new"}
    assert ids(events[1:]) == {"1": 1, "2": 1}


def test_what_moves_while_the_names_are_read_is_neither_lost_nor_told_twice() -> None:
    shelf = Shelf(outbox=[mail_item("1")])
    reader = PartReader(shelf)
    scanned(reader)
    shelf.moves = [("outbox", "sent")]
    assert changed(reader) == []
    assert changed(reader) == []


def test_half_of_a_part_is_waited_for() -> None:
    shelf = Shelf(a=None, b=[mail_item("2")])
    reader = PartReader(shelf)
    assert ids(scanned(reader)) == {"2": 1}
    assert changed(reader) == []
    shelf.held["a"] = [mail_item("1")]
    assert ids(changed(reader, has_changed=False)) == {"1": 1}
    shelf.put("a", None)
    assert changed(reader) == [], "what was read holds until the new is whole"
    shelf.put("a", [mail_item("1"), mail_item("3")])
    assert ids(changed(reader)) == {"3": 1}


def test_an_agent_is_told_again_whenever_it_changes_and_back() -> None:
    ann, frozen = Agent("ann"), Agent("ann", activity="reading")
    shelf = Shelf(roster=[ann])
    reader = PartReader(shelf)
    assert scanned(reader) == [ann]
    for now in (frozen, ann, frozen):
        shelf.put("roster", [now])
        assert changed(reader) == [now]
    shelf.put("roster", [])
    assert isinstance(changed(reader)[0], Reset)


def test_a_problem_that_is_mended_makes_a_reset() -> None:
    shelf = Shelf(a=[Problem("a", 1, 0, "no message")])
    reader = PartReader(shelf)
    scanned(reader)
    shelf.put("a", [mail_item("1")])
    events = changed(reader)
    assert isinstance(events[0], Reset)
    assert events[1:] == [mail_item("1")]


def test_a_mailbox_that_can_not_be_reached_is_gone_once_and_then_back() -> None:
    shelf = Shelf(a=[mail_item("1")])
    reader = PartReader(shelf)
    scanned(reader)
    shelf.is_gone = True
    [gone] = changed(reader)
    assert isinstance(gone, Gone)
    assert changed(reader) == []
    shelf.is_gone = False
    events = changed(reader)
    assert isinstance(events[0], Reset)
    assert ids(events) == {"1": 1}


def test_a_scan_that_was_given_up_loses_nothing() -> None:
    shelf = Shelf(**{f"p{number}": [mail_item(f"m{number}")] for number in range(2500)})
    reader = PartReader(shelf)
    first = next(reader.scan())
    assert set(ids([*first, *changed(reader)])) == {f"m{number}" for number in range(2500)}


states = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.sampled_from("12345"), max_size=4, unique=True), max_size=4
)


@given(st.lists(states, min_size=1, max_size=8))
def test_whatever_happens_what_was_told_since_the_last_reset_is_what_stands_there(
    story: list[dict[str, list[str]]],
) -> None:
    shelf = Shelf()
    reader = PartReader(shelf)
    told: list[Event] = []
    for step, state in enumerate(story):
        for part in [part for part in shelf.held if part not in state]:
            del shelf.held[part]
        for part, names in state.items():
            if shelf.held.get(part) != [mail_item(name) for name in names]:
                shelf.put(part, [mail_item(name) for name in names])
        told += scanned(reader) if step == 0 else changed(reader)
        last = max((at for at, event in enumerate(told) if isinstance(event, Reset)), default=-1)
        assert ids(told[last + 1 :]) == dict.fromkeys({name for names in state.values() for name in names}, 1)


@pytest.mark.parametrize("number", [1, 12])
def test_the_reason_says_how_many_went(number: int) -> None:
    shelf = Shelf(a=[mail_item(str(at)) for at in range(number)])
    reader = PartReader(shelf)
    scanned(reader)
    shelf.held.clear()
    [reset] = of(Reset, changed(reader))
    assert reset.reason.startswith("a message is" if number == 1 else "12 messages are")


class Turning(Shelf):
    """A part that holds something else each time it is read."""

    def read(self, part: str) -> list[Event] | None:
        super().read(part)
        self.put(part, [mail_item(f"m{self.read_count}")])
        return self.held[part]


def test_what_changes_each_time_it_is_read_is_not_read_without_end() -> None:
    reader = PartReader(Turning(a=[]))
    with pytest.raises(OSError, match="it changes each time it is read"):
        scanned(reader)
    reader = PartReader(shelf := Shelf(a=[mail_item("one")]))
    scanned(reader)
    for number in range(30):  # each time for another reason
        shelf.put("a", [mail_item(f"m{number}")])
        assert ids(changed(reader)) == {f"m{number}": 1}
