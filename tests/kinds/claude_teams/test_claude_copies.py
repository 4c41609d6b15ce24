"""Which entries of inboxes are copies of one message, in time that grows with their number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.kinds.claude_teams import copies as module
from mailstore.kinds.claude_teams.copies import AT_ONCE_SECONDS, SeenEntry, grouped
from mailstore.kinds.claude_teams.entries import InboxEntry
from mailstore.records.message import Location

MOMENTS = st.sampled_from([None, 0.0, 1.0, 4.0, 5.0, 6.0, 20.0])


def seen(number: int, inbox: str, time: float | None = 1.0, message_id: str = "") -> SeenEntry:
    entry = InboxEntry(inbox, "ann", "the same", str(time), time, False, message_id, "", "", b"")
    return SeenEntry(f"id-{number}", entry, number, time or 0.0, Location("file", 0, 0), None)


def slowly(entries: list[SeenEntry]) -> list[list[str]]:
    """Group entries as the rule says it: an entry joins the first recent group that it fits."""
    groups: list[list[SeenEntry]] = []
    recent: list[list[SeenEntry]] = []
    for one in sorted(entries, key=lambda it: (it.time, it.entry.inbox, it.ordinal)):
        for home in recent:
            first = home[0]
            if one.entry.inbox in {it.entry.inbox for it in home}:
                continue
            if first.entry.message_id and first.entry.message_id == one.entry.message_id:
                break
            if one.entry.time is None or first.entry.time is None:
                if one.entry.timestamp == first.entry.timestamp:
                    break
            elif one.time - first.time <= AT_ONCE_SECONDS:
                break
        else:
            recent = [it for it in recent if one.time - it[0].time <= AT_ONCE_SECONDS]
            home = []
            recent.append(home)
            groups.append(home)
        home.append(one)
    return sorted([it.id for it in group] for group in groups)


@given(st.lists(st.tuples(st.sampled_from("xyz"), MOMENTS, st.sampled_from(["", "m1", "m2"])), max_size=20))
def test_copies_are_grouped_as_the_rule_says(drawn: list[tuple[str, float | None, str]]) -> None:
    entries = [seen(number, *each) for number, each in enumerate(drawn)]
    assert sorted([it.id for it in group] for group in grouped(entries)) == slowly(entries)


def test_many_equal_entries_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    belongs = module._belongs
    monkeypatch.setattr(module, "_belongs", lambda one, first: compared.append(one) or belongs(one, first))
    entries = [seen(number, inbox) for inbox in "xy" for number in range(1000)]
    assert [len(group) for group in grouped(entries)] == [2] * 1000
    assert len(compared) == 1000
