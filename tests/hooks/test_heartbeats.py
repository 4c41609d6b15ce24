"""Heartbeats: when the roster hears what a session does, and what its subagents count for."""

from __future__ import annotations

import json

import pytest

from console.hooks.events import CHANGED, CWD, INTERRUPT, PROMPT, STOP, TOOL, WAITING
from tests.hooks.fleet import Fleet

ONE = "11111111-1111-4111-8111-aaaaaaaaaaaa"
AGENT = "claude-aaaaaaaa"


def activities(fleet: Fleet) -> list[str]:
    return [line["activity"] for line in fleet.lines()]


def test_a_session_that_works_says_so_once_a_minute(fleet: Fleet) -> None:
    fleet.start(ONE)
    for _ in range(24):
        fleet.now += 5
        fleet.event(ONE, TOOL)
    assert activities(fleet) == ["idle", "working", "working"]
    assert fleet.entry(AGENT)["last_seen"] == "2027-01-15T08:02:00.000Z"


def test_a_session_that_works_for_long_says_so_every_five_minutes(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, PROMPT)
    for _ in range(2 * 60):
        fleet.now += 60
        fleet.event(ONE, TOOL)
    assert 2 * 12 < len(fleet.lines()) < 2 * 12 + 20
    fleet.event(ONE, STOP)
    assert fleet.entry(AGENT)["activity"] == "idle"


def test_short_turns_write_nothing_but_the_state_knows_them(fleet: Fleet) -> None:
    fleet.start(ONE)
    for _ in range(5):
        fleet.now += 5
        fleet.event(ONE, PROMPT)
        assert (fleet.state(ONE).doing, fleet.state(ONE).since) == ("working", fleet.now)
        fleet.now += 5
        fleet.event(ONE, STOP)
        assert (fleet.state(ONE).doing, fleet.state(ONE).since) == ("idle", fleet.now)
    assert activities(fleet) == ["idle"]


@pytest.mark.parametrize("moment", [STOP, INTERRUPT])
def test_the_end_of_a_turn_is_recorded_at_once(fleet: Fleet, moment: str) -> None:
    fleet.start(ONE)
    fleet.now += 61
    fleet.event(ONE, TOOL)
    fleet.now += 2
    fleet.event(ONE, moment)
    assert activities(fleet) == ["idle", "working", "idle"]


def test_waiting_for_a_permission_and_its_end_are_recorded_at_once(fleet: Fleet) -> None:
    fleet.start(ONE)
    for moment in (PROMPT, WAITING, WAITING, CHANGED, TOOL, TOOL):
        fleet.now += 1
        fleet.event(ONE, moment)
    assert activities(fleet) == ["idle", "waiting", "working"]


def test_what_tells_nothing_of_the_work_leaves_it_as_it_was(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, PROMPT)
    since = fleet.state(ONE).since
    fleet.now += 61
    for moment in (CHANGED, CWD):
        fleet.event(ONE, moment)
    assert (fleet.state(ONE).doing, fleet.state(ONE).since) == ("working", since)
    assert activities(fleet) == ["idle", "working"]


def test_a_clock_that_was_set_back_stops_no_heartbeat(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.now -= 3600
    fleet.event(ONE, TOOL)
    assert activities(fleet) == ["idle", "working"]


def test_what_an_agent_says_of_its_work_is_kept(fleet: Fleet) -> None:
    fleet.start(ONE)
    for said in ("working: leaf 12", "binding leaf 13"):
        with fleet.roster.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**fleet.entry(AGENT), "activity": said}) + "\n")
        detail = said.removeprefix("working: ")
        fleet.now += 61
        fleet.event(ONE, TOOL)
        assert fleet.entry(AGENT)["activity"] == f"working: {detail}"
        fleet.event(ONE, STOP)
        assert fleet.entry(AGENT)["activity"] == f"idle: {detail}"


def test_a_session_gets_its_title_later(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.now += 61
    fleet.event(ONE, PROMPT, title="Leaf 12")
    assert fleet.entry(AGENT)["name"] == "Leaf 12"
    with fleet.roster.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**fleet.entry(AGENT), "name": "binder"}) + "\n")
    fleet.now += 61
    fleet.event(ONE, PROMPT, title="Leaf 12")
    assert fleet.entry(AGENT)["name"] == "binder"


def test_a_subagent_is_its_parent_s_heartbeat_and_no_more(fleet: Fleet) -> None:
    fleet.event(ONE, TOOL, is_subagent=True)
    assert fleet.lines() == []
    fleet.start(ONE)
    fleet.now += 61
    fleet.event(ONE, STOP, is_subagent=True)
    assert activities(fleet) == ["idle", "working"]
    fleet.now += 5
    fleet.event(ONE, STOP)
    assert activities(fleet) == ["idle", "working", "idle"]
    assert {line["session_id"] for line in fleet.lines()} == {AGENT}
