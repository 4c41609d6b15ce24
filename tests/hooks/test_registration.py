"""A session's agent in the roster, from its first event to its end, as `who` and `agents` then show it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.hooks.events import CHANGED, CWD, END, INTERRUPT, PROMPT, STOP, TOOL, WAITING
from tests.hooks.fleet import NOW, Fleet, needs_processes

ONE = "11111111-1111-4111-8111-aaaaaaaaaaaa"
TWO = "22222222-2222-4222-8222-bbbbbbbbbbbb"


def test_a_session_is_registered_when_it_starts(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_ROLE"] = "librarian"
    arrival = fleet.event(ONE, source="startup", title="Leaf 12")
    assert arrival is not None
    assert (arrival.agent_id, arrival.role, arrival.tags) == ("claude-aaaaaaaa", "librarian", ("project:ink",))
    assert (arrival.note, arrival.problem, arrival.is_registered) == ("", "", True)
    assert fleet.lines() == [
        {
            "session_id": "claude-aaaaaaaa",
            "name": "Leaf 12",
            "role": "librarian",
            "tags": ["project:ink"],
            "status": "living",
            "activity": "idle",
            "started_at": "2027-01-15T08:00:00.000Z",
            "last_seen": "2027-01-15T08:00:00.000Z",
            "updated": "2027-01-15T08:00:00.000Z",
        }
    ]


@pytest.mark.parametrize(
    ("moment", "activity"),
    [(PROMPT, "working"), (TOOL, "working"), (STOP, "idle"), (CHANGED, "idle"), (CWD, "idle"), (WAITING, "waiting"),
     (INTERRUPT, "idle")],
)  # fmt: skip
def test_a_session_is_registered_at_its_first_event_whichever_it_is(fleet: Fleet, moment: str, activity: str) -> None:
    fleet.event(ONE, moment)
    assert fleet.entry("claude-aaaaaaaa")["activity"] == activity


def test_the_end_of_an_unknown_session_does_nothing(fleet: Fleet) -> None:
    fleet.event(ONE, END)
    assert fleet.lines() == []


def test_the_end_of_a_session_freezes_its_agent(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, END, "other")
    fleet.event(ONE, END, "other")
    assert [line["status"] for line in fleet.lines()] == ["living", "frozen"]
    assert "ended_at" not in fleet.entry("claude-aaaaaaaa")


def test_the_end_of_a_session_that_is_thrown_away_buries_its_agent(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.now += 5
    fleet.event(ONE, END, at_end="bury")
    entry = fleet.entry("claude-aaaaaaaa")
    assert (entry["status"], entry["ended_at"]) == ("dead", "2027-01-15T08:00:05.000Z")


def test_a_resumed_session_is_the_same_agent_and_lives_again(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, END)
    fleet.now += 3600
    assert fleet.start(ONE, "resume") == "claude-aaaaaaaa"
    entry = fleet.entry("claude-aaaaaaaa")
    assert (entry["status"], entry["activity"], entry["started_at"]) == ("living", "idle", "2027-01-15T08:00:00.000Z")
    assert not fleet.state(ONE).is_ended


def test_a_resumed_session_whose_agent_is_dead_becomes_another(fleet: Fleet) -> None:
    fleet.start(ONE)
    for name in ("claude-aaaaaaaa.2", "claude-aaaaaaaa.3"):
        fleet.event(ONE, END, at_end="bury")
        assert fleet.start(ONE, "resume") == name
    assert [(line["session_id"], line["status"]) for line in fleet.lines()] == [
        ("claude-aaaaaaaa", "living"), ("claude-aaaaaaaa", "dead"),
        ("claude-aaaaaaaa.2", "living"), ("claude-aaaaaaaa.2", "dead"),
        ("claude-aaaaaaaa.3", "living"),
    ]  # fmt: skip


def test_a_compacted_session_goes_on_as_it_was(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, PROMPT)
    assert fleet.start(ONE, "compact") == "claude-aaaaaaaa"
    assert fleet.entry("claude-aaaaaaaa")["activity"] == "working"


def test_a_cleared_session_is_a_new_agent_with_the_same_role_and_tags(fleet: Fleet) -> None:
    fleet.start(ONE, agent_type="librarian")
    entry = fleet.entry("claude-aaaaaaaa")
    changed = {**entry, "role": "binder", "tags": ["project:ink", "concern:rules"]}
    with fleet.roster.open("a", encoding="utf-8") as file:
        file.write(json.dumps(changed) + "\n")
    fleet.event(ONE, END, "clear")
    assert fleet.start(TWO, "clear") == "claude-bbbbbbbb"
    new = fleet.entry("claude-bbbbbbbb")
    assert (new["role"], new["tags"], new["status"]) == ("binder", ["project:ink", "concern:rules"], "living")
    assert fleet.entry("claude-aaaaaaaa")["status"] == "frozen"


@pytest.mark.parametrize("source", ["clear", "fork"])
@needs_processes
def test_a_session_that_was_replaced_without_an_end_is_frozen(fleet: Fleet, source: str) -> None:
    fleet.start(ONE)
    fleet.start(TWO, source)
    assert fleet.entry("claude-aaaaaaaa")["status"] == "frozen"
    assert fleet.state(ONE).is_ended
    assert fleet.entry("claude-bbbbbbbb")["status"] == "living"


def test_a_fork_of_a_session_in_another_window_leaves_that_alone(fleet: Fleet) -> None:
    fleet.process = ""
    fleet.start(ONE)
    fleet.now += 60
    fleet.start(TWO, "fork")
    assert fleet.entry("claude-aaaaaaaa")["status"] == "living"


def test_two_sessions_in_one_folder_are_two_agents(fleet: Fleet) -> None:
    assert {fleet.start(ONE), fleet.start(TWO)} == {"claude-aaaaaaaa", "claude-bbbbbbbb"}
    assert fleet.start(ONE[:-12] + "cccccccccccc", tool="opencode") == "opencode-cccccccc"


def test_sessions_that_end_alike_get_longer_ids(fleet: Fleet) -> None:
    other = "33333333-3333-4333-8333-0000aaaaaaaa"
    fleet.start(ONE)
    fleet.event(ONE, END)
    assert fleet.start(other) == "claude-0000aaaaaaaa"
    assert fleet.start(ONE, "resume") == "claude-aaaaaaaa"


def test_an_agent_that_was_registered_by_hand_keeps_its_role_and_tags(fleet: Fleet) -> None:
    by_hand = {"session_id": "architect-7", "role": "architect", "tags": ["concern:rules"], "note": {"kept": [1, None]}}
    fleet.roster.write_text(json.dumps(by_hand) + "\n", encoding="utf-8")
    fleet.env["SIGNALBOX_AGENT"] = "architect-7"
    assert fleet.start(ONE) == "architect-7"
    entry = fleet.entry("architect-7")
    assert (entry["role"], entry["tags"]) == ("architect", ["concern:rules", "project:ink"])
    assert entry["note"] == {"kept": [1, None]}
    fleet.env["SIGNALBOX_ROLE"] = "reviewer"
    fleet.start(ONE, "resume")
    assert fleet.entry("architect-7")["role"] == "reviewer"


def test_the_words_of_the_roster_are_kept(fleet: Fleet) -> None:
    line = {"id": "bob-1", "state": "live", "tags": "project:ink, concern:x", "registered": "2027-01-01T00:00:00Z"}
    fleet.roster.write_text(json.dumps(line) + "\n", encoding="utf-8")
    fleet.start(ONE)
    new = fleet.lines()[-1]
    assert (new["id"], new["state"], new["registered"][:10]) == ("claude-aaaaaaaa", "live", "2027-01-15")


def test_a_damaged_roster_holds_no_session_up(fleet: Fleet) -> None:
    fleet.start(ONE)
    lines = fleet.roster.read_bytes()
    fleet.roster.write_bytes(lines + b'{"session_id":"claude-aaaaaaaa","sta\n\xff\xfe\n[1]\n"x"\n{"session_id":')
    fleet.now += 60
    fleet.event(ONE, TOOL)
    assert json.loads(fleet.roster.read_bytes().splitlines()[-1])["activity"] == "working"
    fleet.start(TWO)
    assert json.loads(fleet.roster.read_bytes().splitlines()[-1])["session_id"] == "claude-bbbbbbbb"
    assert fleet.problems == []


def test_a_roster_that_can_t_be_written_is_tried_again(fleet: Fleet) -> None:
    fleet.roster.unlink()
    fleet.roster.mkdir()
    arrival = fleet.event(ONE)
    assert arrival is not None
    assert (arrival.agent_id, arrival.is_registered) == ("claude-aaaaaaaa", False)
    assert "not a regular file" in arrival.problem
    fleet.roster.rmdir()
    fleet.event(ONE, TOOL)
    assert not fleet.roster.exists()
    fleet.now += 60
    fleet.event(ONE, TOOL)
    assert fleet.entry("claude-aaaaaaaa")["tags"] == ["project:ink"]


def test_an_agent_that_the_roster_lost_is_registered_again(fleet: Fleet) -> None:
    fleet.env["SIGNALBOX_ROLE"] = "librarian"
    fleet.start(ONE)
    fleet.roster.write_bytes(b"")
    fleet.now += 60
    fleet.event(ONE, TOOL)
    entry = fleet.entry("claude-aaaaaaaa")
    assert (entry["role"], entry["tags"], entry["status"]) == ("librarian", ["project:ink"], "living")


def test_an_agent_that_was_retired_stays_so_until_its_session_starts_again(fleet: Fleet) -> None:
    fleet.start(ONE)
    retired = {**fleet.entry("claude-aaaaaaaa"), "status": "dead", "ended_at": "2027-01-15T08:00:30Z"}
    with fleet.roster.open("a", encoding="utf-8") as file:
        file.write(json.dumps(retired) + "\n")
    for moment in (TOOL, STOP, PROMPT, END):
        fleet.now += 61
        fleet.event(ONE, moment)
    assert len(fleet.lines()) == 2
    assert fleet.start(ONE, "resume") == "claude-aaaaaaaa.2"


def test_an_ended_session_that_goes_on_lives_again(fleet: Fleet) -> None:
    fleet.start(ONE)
    fleet.event(ONE, END)
    fleet.event(ONE, PROMPT)
    assert fleet.entry("claude-aaaaaaaa")["status"] == "living"
    assert not fleet.state(ONE).is_ended


def test_a_roster_document_is_updated_through_the_store(fleet: Fleet) -> None:
    fleet.roster.unlink()
    document = fleet.folder / "data" / "agent-roster.json"
    document.write_text('{"agents": {"bob-1": {"role": "binder"}}}', encoding="utf-8")
    fleet.start(ONE)
    fleet.now += 61
    fleet.event(ONE, TOOL)
    fleet.event(ONE, END)
    agents = json.loads(document.read_bytes())["agents"]
    assert agents["bob-1"] == {"role": "binder"}
    assert (agents["claude-aaaaaaaa"]["status"], agents["claude-aaaaaaaa"]["activity"]) == ("frozen", "offline")
    assert not fleet.roster.exists()


def test_a_mailbox_without_a_roster_of_ours_registers_nobody(fleet: Fleet, tmp_path: Path) -> None:
    other = tmp_path / "forge"
    (other / ".agenties").mkdir(parents=True)
    (other / ".agenties" / "mailbox.jsonl").touch()
    before = sorted(each.name for each in other.rglob("*"))
    agenties = Fleet(other)
    agenties.env = {**fleet.env, "SIGNALBOX_AGENT": "forge-1"}
    arrival = agenties.event(ONE)
    assert arrival is not None
    assert (arrival.agent_id, arrival.is_registered, arrival.problem) == ("forge-1", False, "")
    agenties.now += 61
    agenties.event(ONE, TOOL)
    agenties.event(ONE, END)
    assert agenties.problems == []
    assert sorted(each.name for each in other.rglob("*")) == before


def test_of_several_mailboxes_the_nearest_one_has_the_agent(fleet: Fleet, tmp_path: Path) -> None:
    from mailstore.records.scope import url_of
    from tests.mailboxes import MailFiles

    mill = MailFiles(tmp_path / "mill")
    fleet.store = url_of({"mill": f"haak:{mill.mailbox}", "ink": fleet.mailbox})
    assert fleet.start(ONE) == "ink/claude-aaaaaaaa"
    assert fleet.entry("claude-aaaaaaaa")["tags"] == ["project:ink"]
    assert fleet.start(TWO, cwd=tmp_path) == "mill/claude-bbbbbbbb"
    fleet.event(ONE, END)
    assert fleet.entry("claude-aaaaaaaa")["status"] == "frozen"
    fleet.env["SIGNALBOX_AGENT"] = "ink/architect-7"
    assert fleet.start("c" * 12) == "ink/architect-7"
    fleet.event("c" * 12, END)
    assert fleet.start("d" * 12) == "ink/architect-7"
    assert fleet.start("c" * 12, "resume") == "ink/claude-cccccccc"
    assert fleet.now == NOW
