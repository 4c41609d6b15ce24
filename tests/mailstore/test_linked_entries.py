"""Names by row: who has read a message, and to whom it was delivered, as the records say it."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from mailstore.columns.rows import LONG, NONE, LinkedEntries

ROWS = 3


class CountingArray(array):  # type: ignore[type-arg]
    """Counts how many of its items are looked at."""

    looked_at = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        CountingArray.looked_at += 1
        return super().__getitem__(at)


def entries_of_rows() -> LinkedEntries:
    entries = LinkedEntries()
    for _ in range(ROWS):
        entries.add_row()
    return entries


@given(st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, 3 * LONG), st.booleans()), max_size=6 * LONG))
def test_the_newest_entry_of_a_name_is_found_however_many_there_are(
    steps: list[tuple[int, int, bool]],
) -> None:
    entries, known = entries_of_rows(), dict[tuple[int, int], int]()
    for number in range(2 * LONG):
        known[0, number] = len(entries.names)
        entries.add(0, number)
    for row, name, adds in steps:
        assert entries.find(row, name) == known.get((row, name), NONE)
        if adds:
            known[row, name] = len(entries.names)
            entries.add(row, name)
    for name in range(3 * LONG):
        assert entries.find(0, name) == known.get((0, name), NONE)


def test_looking_for_each_of_many_names_costs_no_square_of_their_number() -> None:
    entries = entries_of_rows()
    entries.following = CountingArray("i")
    CountingArray.looked_at = 0
    for name in range(40 * LONG):
        assert entries.find(0, name) == NONE
        entries.add(0, name)
    assert CountingArray.looked_at < 2 * LONG * LONG
