"""Reply forests: roots, placeholders, rings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mailstore.columns.reply_forest import NONE, ReplyForest

ROWS = range(8)


def forest(*links: tuple[int, int | None]) -> ReplyForest:
    grown = ReplyForest(lambda row: (float(row), str(row)))
    grown.grow(10)
    for row, parent in links:
        grown.add(row, NONE if parent is None else parent)
    return grown


def walked(grown: ReplyForest, root: int) -> list[tuple[int, int]]:
    return list(grown.walk(root))


def test_a_reply_hangs_below_what_it_answers() -> None:
    grown = forest((0, None), (1, 0), (2, 1), (3, 0))
    assert walked(grown, 0) == [(0, 0), (1, 1), (2, 2), (3, 1)]


def test_siblings_are_ordered_by_age_whatever_came_first() -> None:
    grown = forest((3, 0), (1, 0), (0, None), (2, 0))
    assert grown.replies(0) == [1, 2, 3]


def test_a_parent_that_is_nowhere_is_a_placeholder_root() -> None:
    grown = forest((1, 9), (2, 9))
    assert grown.root(1) == grown.root(2) == 9
    assert grown.is_placeholder(9)


def test_a_parent_that_arrives_late_takes_its_place() -> None:
    grown = forest((2, 1), (1, 0))
    assert grown.root(2) == 0
    grown.add(0, NONE)
    assert walked(grown, 0) == [(0, 0), (1, 1), (2, 2)]


def test_a_ring_is_cut_at_its_oldest_message_and_reported() -> None:
    grown = forest((2, 1), (1, 3), (3, 2))
    assert [(set(ring), cut) for ring, cut in grown.rings] == [({1, 2, 3}, 1)]
    assert {grown.root(row) for row in (1, 2, 3)} == {1}


def test_a_message_that_answers_itself_is_a_root() -> None:
    grown = forest((1, 1))
    assert walked(grown, 1) == [(1, 0)]
    assert grown.rings == [((1,), 1)]


def test_a_chain_of_ten_thousand_replies_is_walked() -> None:
    grown = ReplyForest(lambda row: (float(row), ""))
    grown.grow(10_000)
    for row in range(10_000):
        grown.add(row, row - 1 if row else NONE)
    assert grown.root(9_999) == 0
    assert walked(grown, 0)[-1] == (9_999, 9_999)


@given(st.lists(st.tuples(st.sampled_from(ROWS), st.sampled_from([*ROWS, 9, None])), unique_by=lambda link: link[0]))
def test_every_message_stands_in_its_roots_tree_once(links: list[tuple[int, int | None]]) -> None:
    grown = forest(*links)
    roots = {grown.root(row) for row, _ in links}
    added = {row for row, _ in links}
    found = [row for root in roots for row, _ in grown.walk(root) if row in added]
    assert sorted(found) == sorted(added)
    assert all(sorted(grown.members(root)) == sorted(row for row, _ in grown.walk(root)) for root in roots)
