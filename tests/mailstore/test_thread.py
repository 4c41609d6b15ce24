"""Reply forests: roots, placeholders, rings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mailstore.thread import Forest

IDS = [f"m{number}" for number in range(8)]


def forest(*links: tuple[str, str | None]) -> Forest:
    grown = Forest(lambda key: (float(IDS.index(key)), key) if key in IDS else (0.0, key))
    for message_id, parent in links:
        grown.add(message_id, parent)
    return grown


def test_a_reply_hangs_below_what_it_answers() -> None:
    grown = forest(("m0", None), ("m1", "m0"), ("m2", "m1"), ("m3", "m0"))
    assert grown.walk("m0") == [("m0", 0), ("m1", 1), ("m2", 2), ("m3", 1)]


def test_siblings_are_ordered_by_age_whatever_came_first() -> None:
    grown = forest(("m3", "m0"), ("m1", "m0"), ("m0", None), ("m2", "m0"))
    assert grown.children("m0") == ["m1", "m2", "m3"]


def test_a_parent_that_is_nowhere_is_a_placeholder_root() -> None:
    grown = forest(("m1", "gone"), ("m2", "gone"))
    assert grown.root("m1") == grown.root("m2") == "gone"
    assert grown.placeholders() == ["gone"]


def test_a_parent_that_arrives_late_takes_its_place() -> None:
    grown = forest(("m2", "m1"), ("m1", "m0"))
    assert grown.root("m2") == "m0"
    grown.add("m0", None)
    assert grown.placeholders() == []
    assert grown.walk("m0") == [("m0", 0), ("m1", 1), ("m2", 2)]


def test_a_ring_is_cut_at_its_oldest_message_and_reported() -> None:
    grown = forest(("m2", "m1"), ("m1", "m3"), ("m3", "m2"))
    assert [set(cycle.members) for cycle in grown.cycles] == [{"m1", "m2", "m3"}]
    assert grown.cycles[0].cut == "m1"
    assert {grown.root(key) for key in ("m1", "m2", "m3")} == {"m1"}


def test_a_message_that_answers_itself_is_a_root() -> None:
    grown = forest(("m1", "m1"))
    assert grown.walk("m1") == [("m1", 0)]
    assert grown.cycles[0].cut == "m1"


def test_a_chain_of_ten_thousand_replies_is_walked() -> None:
    grown = Forest(lambda key: (float(key), key))
    for number in range(10_000):
        grown.add(str(number), str(number - 1) if number else None)
    assert grown.root("9999") == "0"
    assert grown.walk("0")[-1] == ("9999", 9_999)


@given(st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from([*IDS, "gone", None])), unique_by=lambda link: link[0]))
def test_every_message_stands_in_its_roots_tree_once(links: list[tuple[str, str | None]]) -> None:
    grown = forest(*links)
    roots = {grown.root(message_id) for message_id, _ in links}
    walked = [message_id for root in roots for message_id, _ in grown.walk(root) if message_id in grown]
    assert sorted(walked) == sorted(message_id for message_id, _ in links)
