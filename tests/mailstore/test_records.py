"""Agents, addresses and drafts (docs/semantics.md#addresses)."""

from __future__ import annotations

from typing import Any

import pytest

from mailstore.errors import DraftRefused
from mailstore.records.address import Kind, channel_label, channels_named, is_channel, resolve, shared_names
from mailstore.records.draft import MAX_BODY_BYTES, draft
from mailstore.records.roster import Agent, Roster, Status

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"


def roster(*agents: Agent) -> Roster:
    known = Roster()
    for agent in agents:
        known.put(agent)
    return known


# Roster


def test_a_session_that_is_registered_twice_is_one_agent_and_the_last_line_wins() -> None:
    known = roster(Agent(ANN, role="librarian"), Agent(BOB), Agent(ANN, role="steward"))
    assert [agent.session_id for agent in known] == [ANN, BOB]
    assert (len(known), known.get(ANN)) == (2, Agent(ANN, role="steward"))


def test_putting_an_agent_says_whether_its_mail_has_moved() -> None:
    known = roster(Agent(ANN, role="librarian"))
    assert not known.put(Agent(ANN, role="librarian", activity="reading", last_seen=5.0))
    assert known.put(Agent(ANN, role="librarian", status=Status.FROZEN))


def test_an_agent_holds_its_role_and_those_it_bears_as_tags() -> None:
    assert Agent(ANN, role="a", tags=("role:b", "project:x", "role:", "role:a")).roles() == ("b", "a")
    assert Agent(ANN, role="a", tags=("role:b",)).roles() == ("a", "b")


def test_the_living_and_the_frozen_hold_a_role_and_the_dead_held_it() -> None:
    known = roster(
        Agent(ANN, role="r"), Agent(BOB, role="r", status=Status.FROZEN), Agent(CID, "", "r", (), Status.DEAD)
    )
    assert [agent.session_id for agent in known.holders("r")] == [ANN, BOB]
    assert known.held("r") == [ANN, BOB, CID]


def test_a_role_that_was_given_up_is_still_known() -> None:
    known = roster(Agent(ANN, role="old"), Agent(ANN, role="new"))
    assert known.knows_role("old")
    assert known.roles() == ["new", "old"]
    assert known.holders("old") == []
    assert "old" in known.ever_held(ANN)


def test_whoever_bears_a_tag_is_found_dead_or_alive() -> None:
    known = roster(Agent(ANN, tags=("project:ink",)), Agent(BOB, tags=("project:ink",), status=Status.DEAD), Agent(CID))
    assert [agent.session_id for agent in known.bearers("project:ink")] == [ANN, BOB]
    assert known.tags() == ["project:ink"]


def test_a_ttl_stands_still_between_the_lines_that_tell_it() -> None:
    known = roster(
        Agent(ANN, status=Status.FROZEN, updated=100.0),
        Agent(ANN, status=Status.FROZEN, updated=150.0),
        Agent(ANN, updated=200.0),
        Agent(ANN, status=Status.FROZEN, updated=300.0),
    )
    assert known.end_for(ANN, 0.0, 90.0) == 90.0
    assert known.end_for(ANN, 0.0, 110.0) == 210.0
    assert known.end_for(ANN, 150.0, 160.0) == 210.0
    assert known.end_for(ANN, 200.0, 300.0) == 300.0
    assert known.end_for(ANN, 0.0, 201.0) == float("inf")
    assert known.end_for(BOB, 0.0, 350.0) == 350.0


@pytest.mark.parametrize(("begun", "ended"), [(None, 200.0), (100.0, None), (None, None)])
def test_where_nobody_tells_from_when_to_when_a_ttl_may_not_have_run_out(
    begun: float | None, ended: float | None
) -> None:
    known = roster(Agent(ANN, status=Status.FROZEN, updated=begun, started_at=50.0), Agent(ANN, updated=ended))
    known.put(Agent(ANN, started_at=50.0))
    assert known.end_for(ANN, 60.0, 110.0) == float("inf")
    assert known.end_for(ANN, 10.0, 40.0) == 40.0  # before it was there
    if begun is not None:
        assert known.end_for(ANN, 60.0, 100.0) == 100.0
    if ended is not None:
        assert known.end_for(ANN, 200.0, 210.0) == 210.0


def test_the_mail_of_a_role_loses_no_time_while_all_who_hold_it_are_frozen() -> None:
    known = roster(
        Agent(ANN, role="clerk", status=Status.FROZEN, updated=100.0),
        Agent(ANN, role="clerk", updated=200.0),
        Agent(BOB, updated=0.0),
        Agent(BOB, role="clerk", updated=120.0),
        Agent(BOB, role="clerk", status=Status.FROZEN, updated=150.0),
        Agent(BOB, role="clerk", updated=300.0),
    )
    # until 120 only one holds it, and is frozen; from 150 to 200 both are
    assert known.end_for_role("clerk", 0.0, 110.0) == 130.0
    assert known.end_for_role("clerk", 0.0, 140.0) == 210.0
    assert known.end_for_role("clerk", 0.0, 90.0) == 90.0
    assert known.end_for_role("clerk", 200.0, 250.0) == 250.0
    assert known.end_for_role("nobody", 0.0, 250.0) == 250.0


def test_a_holder_has_the_mail_of_the_time_in_which_it_held_the_role_and_lived() -> None:
    known = roster(
        Agent(ANN, started_at=10.0, updated=20.0),
        Agent(ANN, started_at=10.0, role="clerk", updated=100.0),
        Agent(ANN, started_at=10.0, updated=200.0),
        Agent(BOB, role="clerk", started_at=50.0, ended_at=80.0, status=Status.DEAD),
    )
    assert known.tenures(ANN, "clerk") == [(100.0, 200.0)]
    assert known.tenures(BOB, "clerk") == [(50.0, 80.0)]
    assert not known.is_own(ANN, "clerk", 0.0, 99.0)
    assert known.is_own(ANN, "clerk", 0.0, 100.0)
    assert known.is_own(ANN, "clerk", 199.0, float("inf"))
    assert not known.is_own(ANN, "clerk", 201.0, float("inf"))
    assert not known.is_own(BOB, "clerk", 90.0, float("inf"))
    assert not known.is_own(CID, "clerk", 0.0, float("inf"))


def test_an_agent_is_found_by_session_then_by_prefix_then_by_name() -> None:
    known = roster(Agent(ANN), Agent(BOB, name="ann-0000"), Agent(CID, name=ANN))
    assert known.find(ANN) == (known.get(ANN), "session")
    assert known.find("ann-0000") == (known.get(ANN), "prefix")
    assert known.find("cid") is None


@pytest.mark.parametrize("prefix", ["ann-0000", "ann-00000"])
def test_a_prefix_that_two_sessions_share_finds_neither(prefix: str) -> None:
    known = roster(Agent(ANN), Agent("ann-00000002"))
    assert known.find(prefix) is None


def test_a_prefix_shorter_than_eight_characters_finds_nobody() -> None:
    assert roster(Agent(ANN)).find("ann-000") is None
    assert roster(Agent(ANN)).find("ann-0000") is not None


def test_of_two_agents_with_one_name_the_living_is_found() -> None:
    known = roster(Agent(ANN, name="Ann"), Agent(BOB, name="Ann", status=Status.DEAD))
    found = known.find("Ann")
    assert found is not None
    assert found[0].session_id == ANN


# Addresses

KNOWN = (
    Agent(ANN, name="Ann", role="librarian", tags=("project:ink",)),
    Agent(BOB, role="steward", status=Status.FROZEN),
    Agent(CID, role="keeper", status=Status.DEAD),
    Agent("short", role="short"),
    Agent("tagged-01", tags=("role:printer",)),
)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("all", Kind.BROADCAST, "all"),
        ("broadcast", Kind.BROADCAST, "all"),
        ("AGENT:*", Kind.BROADCAST, "all"),
        ("user", Kind.USER, "user"),
        ("human", Kind.USER, "user"),
        ("person:zoe", Kind.USER, "user"),
        ("zach", Kind.USER, "user"),
        ("project:ink", Kind.TAG, "project:ink"),
        ("concern:none", Kind.TAG, "concern:none"),
        ("domain:x:y", Kind.TAG, "domain:x:y"),
        ("role:librarian", Kind.ROLE, "librarian"),
        ("librarian", Kind.ROLE, "librarian"),
        ("steward", Kind.ROLE, "steward"),
        ("keeper", Kind.ROLE, "keeper"),
        ("printer", Kind.ROLE, "printer"),
        ("role:nobody", Kind.UNKNOWN, "nobody"),
        (ANN, Kind.DIRECT, ANN),
        (CID, Kind.DIRECT, CID),
        ("ann-00000", Kind.DIRECT, ANN),
        ("Ann", Kind.DIRECT, ANN),
        ("ann", Kind.UNKNOWN, "ann"),
        ("ALL", Kind.UNKNOWN, "ALL"),
        ("project:", Kind.UNKNOWN, "project:"),
        ("signal:+351000000", Kind.LITERAL, "signal:+351000000"),
        ("Project:ink", Kind.LITERAL, "Project:ink"),
    ],
)
def test_an_address_is_the_first_thing_that_it_can_be(text: str, kind: Kind, name: str) -> None:
    found = resolve(text, roster(*KNOWN), user="zach")
    assert (found.kind, found.name, found.warning) == (kind, name, "")


def test_a_session_wins_over_a_role_of_the_same_name_with_a_warning() -> None:
    found = resolve("short", roster(*KNOWN))
    assert (found.kind, found.name) == (Kind.DIRECT, "short")
    assert "the session wins" in found.warning
    assert resolve("role:short", roster(*KNOWN)).kind is Kind.ROLE


def test_a_role_wins_over_the_name_of_an_agent() -> None:
    known = roster(Agent(ANN, name="librarian"), Agent(BOB, role="librarian"))
    assert resolve("librarian", known).kind is Kind.ROLE


def test_an_address_is_read_anew_when_the_roster_has_changed() -> None:
    known = roster(Agent(ANN))
    assert resolve("librarian", known).kind is Kind.UNKNOWN
    known.put(Agent(BOB, role="librarian"))
    assert resolve("librarian", known).kind is Kind.ROLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("project:ink", True), ("domain:a b", True), ("role:x", False), ("project:", False), ("ink", False)],
)
def test_a_channel_is_a_tag_of_the_three_namespaces(text: str, expected: bool) -> None:
    assert is_channel(text) is expected


def test_a_channel_is_shown_without_its_namespace_unless_two_collide() -> None:
    tags = ["project:ink", "concern:rules", "domain:ink", "role:rules"]
    assert channels_named("#ink", tags) == ["domain:ink", "project:ink"]
    assert channels_named("rules", tags) == ["concern:rules"]
    assert channel_label("concern:rules", shared_names(tags)) == "#rules"
    assert channel_label("project:ink", shared_names(tags)) == "#project:ink"
    assert channel_label("project:new", shared_names(tags)) == "#new"


# Drafts

GOOD: dict[str, Any] = {"sender": ANN, "recipients": (BOB,), "content": "Hello."}


def test_a_draft_with_a_sender_a_recipient_and_a_body_is_enough() -> None:
    assert draft(**GOOD).recipients == (BOB,)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("body", {"content": ""}),
        ("body", {"content": " \n\t"}),
        ("body", {"content": None}),
        ("body", {"content": "é" * (MAX_BODY_BYTES // 2) + "x"}),
        ("sender", {"sender": ""}),
        ("sender", {"sender": None}),
        ("to", {"recipients": ()}),
        ("to", {"recipients": ("",)}),
        ("ttl-hours", {"ttl_hours": 0}),
        ("ttl-hours", {"ttl_hours": -3}),
        ("ttl-hours", {"ttl_hours": "soon"}),
        ("colour", {"colour": "blue"}),
        ("body", {"content": "a lone \ud800 surrogate"}),
        ("subject", {"subject": "a lone \ud800 surrogate"}),
        ("to", {"recipients": ("a lone \ud800 surrogate",)}),
    ],
)
def test_a_draft_that_breaks_a_rule_is_refused_naming_the_field(field: str, change: dict[str, Any]) -> None:
    with pytest.raises(DraftRefused) as caught:
        draft(**{**GOOD, **change})
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field} ")


def test_a_body_of_just_1_mib_is_allowed() -> None:
    assert draft(**{**GOOD, "content": "x" * MAX_BODY_BYTES}).content


def test_a_missing_field_is_named() -> None:
    with pytest.raises(DraftRefused, match="sender"):
        draft(recipients=(BOB,), content="Hello.")
