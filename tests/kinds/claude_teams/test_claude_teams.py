"""Teams as they are read: real ones, what programs tell each other, copies, and what was delivered."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailstore.conformance import Follower, following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import MailboxMissing
from mailstore.kinds.claude_teams.notices import notice
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Delivery, Message, Problem
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.kinds.claude_teams.teams import bodies, entry, journals, read, team, write
from tests.mailboxes import NOW
from tests.oracle.answers import found

FIXTURE = Path(__file__).parents[2] / "fixtures" / "claude-teams"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """Return a copy of two real teams."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "teams"))


# Real teams


def test_a_team_is_recognised_and_opened_by_whatever_a_person_names(teams: Path) -> None:
    one = teams / "analysis-team"
    inbox = one / "inboxes" / "team-lead.json"
    for path in (one, one / "config.json", one / "inboxes", inbox):
        with open_store(path) as store:
            assert store.url == f"claude-teams:{one}"
    for path in (teams, teams.parent):
        with ClaudeTeamsStore.open(path) as store:
            assert store.url == f"claude-teams:{teams}"


def test_a_real_team_is_read(teams: Path) -> None:
    with open_store(teams / "analysis-team") as store:
        events = scanned(store)
        found = {message.subject: message for message in of(Message, events)}
        assignment = found["Task #3 assigned: Analyze message/inbox system"]
        assert store.content(assignment).startswith("Task #3 assigned: Analyze message/inbox system\n\nResearch how")
        assert json.loads(json.loads(store.raw(assignment))["text"])["taskId"] == "3"
        report = found["Task #1 done: task system analysis written"]
        assert "Key findings:\n1. Individual task files" in store.content(report)
    assert len(of(Message, events)) == 26
    assert not of(Problem, events)
    assert (assignment.sender, assignment.recipients, assignment.type) == (
        "team-lead",
        ("message-analyst",),
        "task_assignment",
    )
    assert (report.type, report.is_tracked, report.timestamp) == ("", False, "2026-02-09T15:10:23.755Z")


def test_what_is_marked_read_was_delivered(teams: Path) -> None:
    events = read(teams / "analysis-team")
    messages = {message.id: message for message in of(Message, events)}
    delivered = {one.message_id for one in of(Delivery, events)}
    waiting = {messages[it].subject for it in messages.keys() - delivered}
    assert waiting == {
        "Task #3 assigned: Analyze message/inbox system",
        "Task #4 assigned: Analyze team lifecycle and shutdown",
        "Resume writing team config analysis",
    }


def test_who_left_is_dead_and_who_is_a_member_lives(teams: Path) -> None:
    agents = {agent.session_id: agent for agent in of(Agent, read(teams / "analysis-team"))}
    assert set(agents) == {"team-lead", "task-analyst", "message-analyst", "config-analyst", "lifecycle-analyst"}
    assert agents["team-lead"].status is Status.LIVING
    assert agents["task-analyst"].status is Status.DEAD
    assert agents["task-analyst"].ended_at == pytest.approx(1_770_649_837.113)


def test_several_teams_are_one_mailbox_whose_agents_bear_their_teams_names(teams: Path) -> None:
    events = read(teams)
    names = {agent.session_id for agent in of(Agent, events)}
    assert {"team-lead@analysis-team", "team-lead@humble-chasing-goose"} <= names
    agents = {agent.session_id: agent for agent in of(Agent, events)}
    assert agents["docs-types@humble-chasing-goose"].role == "general-purpose"
    assert agents["docs-types@humble-chasing-goose"].activity == "idle since 2026-02-07 15:20:49 UTC"
    assert agents["team-lead@humble-chasing-goose"].started_at == pytest.approx(1_770_477_615.385)
    assert len(ids(events)) == 32
    assert len(of(Message, events)) == 32


def test_one_id_in_two_teams_is_two_messages(tmp_path: Path) -> None:
    for name in ("ink", "oak"):
        team(tmp_path, name=name, lead=[entry("Hello.", msg_id="m")])
    assert ids(read(tmp_path / "teams")) == {"m@ink": 1, "m@oak": 1}


# What programs tell each other


def test_a_request_to_the_lead_is_for_the_person(tmp_path: Path) -> None:
    text = json.dumps(
        {"type": "permission_request", "toolName": "Bash", "description": "Delete?", "input": {"command": "rm -r x"}}
    )
    folder = team(tmp_path, lead=[entry(text)])
    with open_store(folder) as store:
        events = scanned(store)
        [message] = of(Message, events)
        assert store.content(message) == 'Permission to use a tool: Bash\n\nDelete?\n\n{\n  "command": "rm -r x"\n}'
    assert message.recipients == ("lead", "user")
    assert Delivery(message.id, "user") in events


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ({"type": "task_completed", "taskId": "7", "taskSubject": "Ink"}, "Task #7 completed: Ink"),
        ({"type": "task_assignment"}, "Task #? assigned"),
        ({"type": "plan_approval_response", "approved": True}, "Plan approved"),
        ({"type": "plan_approval_response", "approved": False, "feedback": "No."}, "Plan rejected"),
        ({"type": "shutdown_rejected", "reason": "Busy.\nVery."}, "Shutdown declined: Busy."),
        ({"type": "join_request", "proposedName": "eve"}, "Request to join the team: eve"),
        ({"type": "idle_notification", "idleReason": 5}, "Idle: 5"),
        ({"type": "something_new", "deep": [1]}, "something new"),
    ],
)
def test_what_a_program_tells_is_put_into_words(value: dict[str, Any], subject: str) -> None:
    said = notice(json.dumps(value))
    assert said is not None
    assert (said.type, said.subject) == (value["type"], subject)
    assert said.body


@pytest.mark.parametrize("text", ["{", "{}", '{"type": 3}', '{"type": "two words"}', " {}", "[" * 9999, '{"a":' * 9999])
def test_other_texts_are_mail(text: str) -> None:
    assert notice(text) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["task_assignment", "idle_notification", "permission_request", "plan_approval_response"]),
    st.dictionaries(
        st.sampled_from(["taskId", "subject", "description", "idleReason", "input", "approved", "toolName"]),
        st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda it: st.lists(it, max_size=2)),
    ),
)
def test_whatever_a_program_tells_it_has_words(kind: str, fields: dict[str, Any]) -> None:
    said = notice(json.dumps({"type": kind, **fields}))
    assert said is not None
    assert said.subject
    assert said.body


def test_tasks_say_what_an_agent_is_at(tmp_path: Path) -> None:
    folder = team(tmp_path)
    tasks = tmp_path / "tasks" / "ink"
    tasks.mkdir(parents=True)
    (tasks / "1.json").write_text('{"status": "in_progress", "owner": "ann", "activeForm": "Mixing ink"}')
    (tasks / "2.json").write_text('{"status": "in_progress", "owner": "lead", "metadata": {"_internal": true}}')
    (tasks / "3.json").write_text("not JSON")
    (tasks / "notes.json").write_text('{"status": "in_progress", "owner": "ann", "activeForm": "no task"}')
    assert {agent.session_id: agent.activity for agent in of(Agent, read(folder))} == {"lead": "", "ann": "Mixing ink"}


# Copies


def test_copies_of_a_broadcast_are_one_message_to_all_who_have_one(tmp_path: Path) -> None:
    text = entry("Stop.", 1, **{"from": "lead"})
    folder = team(
        tmp_path,
        ann=[text],
        bob=[{**text, "timestamp": "2026-03-16T12:00:01.004Z", "read": True}],
        cyd=[{**text, "timestamp": "2026-03-16T12:00:59.000Z"}],
    )
    events = read(folder)
    both, later = sorted(of(Message, events), key=lambda message: message.time)
    assert (both.recipients, both.is_listed) == (("ann", "bob"), True)
    assert {one.recipient for one in of(Delivery, events) if one.message_id == both.id} == {"ann", "bob"}
    assert (later.recipients, later.is_listed) == (("cyd",), False)


def test_the_same_words_twice_to_one_are_two_messages(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("Go on."), entry("Go on.")])
    assert len(ids(read(folder))) == 2


def test_a_copy_that_comes_later_changes_no_id(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("Stop.")])

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            write(folder, "bob", [entry("Stop.")])
            return await came.until(lambda events: len(of(Delivery, events)) == 2)

    with ClaudeTeamsStore.open(folder) as store:
        [message] = of(Message, scanned(store))
        events = asyncio.run(story(store))
    assert {one.message_id for one in of(Delivery, events)} == {message.id}
    [again] = of(Message, events)
    assert (again.id, again.recipients, again.location) == (message.id, ("ann", "bob"), message.location)


@pytest.mark.parametrize("is_delivered", [False, True])
@pytest.mark.parametrize("inbox", ["bob", "abe"])
def test_each_copy_that_comes_later_adds_whom_the_message_reaches(
    tmp_path: Path, inbox: str, is_delivered: bool
) -> None:
    told = entry("Stop.", msg_id="m1")
    folder = team(tmp_path, members=("lead", "ann", "abe", "bob"), ann=[told])
    kept = Mailbox()
    with ClaudeTeamsStore.open(folder) as store:
        kept.fold(scanned(store), NOW)
        [message] = kept.messages()
        assert kept.summary(message.id).participants == ("ann",)
        write(folder, "ann", [] if is_delivered else [told])
        write(folder, inbox, [told])
        kept.fold([event for batch in store.news() for event in batch], NOW)
    fresh = Mailbox()
    fresh.fold(read(folder), NOW)
    assert set(kept.summary(message.id).participants) == {"ann", inbox}
    assert found(kept, NOW) == found(fresh, NOW)
    assert not kept.duplicates


# What was delivered stays


def test_what_was_delivered_is_still_shown(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One."), entry("Two.", 1)])
    before = ids(read(folder))
    write(folder, "ann", [entry("Two.", 1), entry("Three.", 2)])
    assert bodies(folder) == ["One.", "Three.", "Two."]
    assert set(ids(read(folder))) > set(before)
    (folder / "inboxes" / "ann.json").unlink()
    assert bodies(folder) == ["One.", "Three.", "Two."]


def test_following_tells_nothing_of_what_is_taken_out(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One."), entry("Two.", 1)])

    async def story(came: Follower) -> None:
        write(folder, "ann", [entry("Two.", 1, read=True), entry("Three.", 2)])
        await came.until(lambda events: bool(of(Message, events)) and bool(of(Delivery, events)))

    async def run(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            await story(came)
            return came.events

    with ClaudeTeamsStore.open(folder) as store:
        old = of(Message, scanned(store))
        events = asyncio.run(run(store))
        assert sorted(store.content(message) for message in [*old, *of(Message, events)]) == ["One.", "Three.", "Two."]
        assert store.raw(next(it for it in old if it.subject == "One."))
    assert not of(Reset, events)
    assert len(of(Message, events)) == 1


def test_the_journal_is_its_owner_s_alone_and_written_only_when_something_is_new(tmp_path: Path) -> None:
    folder = team(tmp_path)
    read(folder)
    assert journals(tmp_path) == {}
    write(folder, "ann", [entry("One.")])
    read(folder)
    [path] = before = journals(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    stamp = path.stat().st_mtime_ns
    assert bodies(folder) == ["One."]
    assert (journals(tmp_path), path.stat().st_mtime_ns) == (before, stamp)


def test_a_damaged_journal_costs_only_what_is_damaged(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One."), entry("Two.", 1)])
    read(folder)
    [path] = journals(tmp_path)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b'{"torn": \n[1]\n\xff\xfe\n{"inbox": 1}\n{"inbox":"ann","n":0,"raw":"{}"}\n' + lines[1] + b"\n")
    write(folder, "ann", [])
    assert bodies(folder) == ["Two."]


def test_a_journal_that_can_not_be_written_is_told_of_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    events = read(team(tmp_path, ann=[entry("One.")]))
    assert len(of(Message, events)) == 1
    [problem] = of(Problem, events)
    assert (problem.fatal, "can't be stored" in problem.reason) == (False, True)


def test_a_team_that_ends_is_gone_and_its_mail_can_be_read(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One.")])

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            shutil.rmtree(folder)
            return await came.until(lambda events: bool(of(Gone, events)))

    with ClaudeTeamsStore.open(folder) as store:
        [message] = of(Message, scanned(store))
        asyncio.run(story(store))
        assert store.content(message) == "One."
    assert bodies_in(f"claude-teams:{folder}") == ["One."]
    with pytest.raises(MailboxMissing):
        ClaudeTeamsStore.open(tmp_path / "teams" / "never")


def bodies_in(url: str) -> list[str]:
    with open_store(url) as store:
        return [store.content(message) for message in of(Message, scanned(store))]


def test_one_of_several_teams_that_ends_keeps_its_mail_and_its_agents_are_dead(tmp_path: Path) -> None:
    team(tmp_path, lead=[entry("One.")])
    gone = team(tmp_path, name="oak", lead=[entry("Two.")])

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            shutil.rmtree(gone)
            return await came.until(lambda events: any(it.status is Status.DEAD for it in of(Agent, events)))

    with ClaudeTeamsStore.open(tmp_path / "teams") as store:
        before = of(Message, scanned(store))
        events = asyncio.run(story(store))
        assert sorted(store.content(message) for message in before) == ["One.", "Two."]
    assert {it.session_id for it in of(Agent, events) if it.status is Status.DEAD} >= {"lead@oak", "ann@oak"}


def test_what_an_agent_repeats_of_being_idle_is_one_thread(teams: Path) -> None:
    mailbox = Mailbox()
    with ClaudeTeamsStore.open(teams / "analysis-team") as store:
        for batch in store.scan():
            mailbox.fold(batch, 1_771_000_000.0)
    idle = [message for message in mailbox.messages() if message.type == "idle_notification"]
    assert len(idle) > len({message.sender for message in idle})
    assert len({mailbox.root_of(message.id) for message in idle}) == len({message.sender for message in idle})
    assert all(message.thread is None for message in mailbox.messages() if message.type != "idle_notification")


def test_teams_in_a_folder_whose_path_is_no_text_are_remembered(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"h\xff")
    folder = team(home, name="oak", lead=[entry("Kept.")])
    with ClaudeTeamsStore.open(folder) as store:
        assert [message.subject for message in of(Message, scanned(store))] == ["Kept."]
    shutil.rmtree(folder)
    with ClaudeTeamsStore.open(folder.parent) as store:
        assert [message.subject for message in of(Message, scanned(store))] == ["Kept."]
