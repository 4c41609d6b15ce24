"""Teams as they are read: real ones, what programs tell each other, copies, what was delivered, and damage."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailstore.conformance import Follower, following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing
from mailstore.events import Event, Gone, Reset
from mailstore.message import Delivery, Message, Problem
from mailstore.registry import open_store
from mailstore.roster import Agent, Status
from mailstore.stores.claude_teams import ClaudeTeamsStore
from mailstore.stores.claude_teams.entries import cut
from mailstore.stores.claude_teams.notices import notice

FIXTURE = Path(__file__).parents[1] / "fixtures" / "claude-teams"
LONG_AGO = 1_600_000_000


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """Return a copy of two real teams."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "teams"))


def entry(text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    return {"from": "ann", "text": text, "timestamp": f"2026-03-16T12:00:{second:02}.000Z", "read": False, **more}


def team(tmp_path: Path, *, name: str = "ink", members: tuple[str, ...] = ("lead", "ann"), **inboxes: Any) -> Path:
    """Make a team; an inbox is a list of entries, or its bytes."""
    folder = tmp_path / "teams" / name
    (folder / "inboxes").mkdir(parents=True, exist_ok=True)
    roster = [{"name": each, "agentType": "worker", "joinedAt": 1_773_662_000_000} for each in members]
    (folder / "config.json").write_text(json.dumps({"name": name, "members": roster}))
    for inbox, value in inboxes.items():
        write(folder, inbox, value)
    return folder


def write(folder: Path, inbox: str, value: Any) -> Path:
    path = folder / "inboxes" / f"{inbox}.json"
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value, indent=2).encode())
    return path


def read(path: Path) -> list[Event]:
    with open_store(path) as store:
        return scanned(store)


def bodies(path: Path) -> list[str]:
    with open_store(path) as store:
        return sorted(store.content(message) for message in of(Message, scanned(store)))


def journals(tmp_path: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (tmp_path / "state").rglob("*.jsonl")}


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
        assert store.content(message) == 'May I use a tool?: Bash\n\nDelete?\n\n{\n  "command": "rm -r x"\n}'
    assert message.recipients == ("lead", "user")
    assert Delivery(message.id, "user") in events


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ({"type": "task_completed", "taskId": "7", "taskSubject": "Ink"}, "Task #7 completed: Ink"),
        ({"type": "task_assignment"}, "Task #? assigned"),
        ({"type": "plan_approval_response", "approved": True}, "Plan approved"),
        ({"type": "plan_approval_response", "approved": False, "feedback": "No."}, "Plan rejected"),
        ({"type": "shutdown_rejected", "reason": "Busy.\nVery."}, "Will not shut down: Busy."),
        ({"type": "join_request", "proposedName": "eve"}, "Asks to join the team: eve"),
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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
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
    assert not of(Message, events)


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
    assert (problem.fatal, "is not kept" in problem.reason) == (False, True)


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
    with pytest.raises(MailboxMissing):
        ClaudeTeamsStore.open(folder)


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


# Damage


def test_a_half_written_inbox_is_read_again_and_what_is_whole_in_it_read_now(tmp_path: Path) -> None:
    whole = json.dumps([entry("One."), entry("Two.", 1)], indent=2).encode()
    folder = team(tmp_path, ann=whole[:-20])

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            write(folder, "ann", whole)
            return await came.until(lambda events: bool(of(Message, events)))

    with ClaudeTeamsStore.open(folder) as store:
        before = scanned(store)
        assert len(of(Message, before)) == 1
        assert not of(Problem, before)
        events = asyncio.run(story(store))
    assert len(of(Message, events)) == 1
    assert not of(Problem, events)


def test_an_inbox_that_stays_half_written_is_a_problem(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=json.dumps([entry("One."), entry("Two.", 1)], indent=2).encode()[:-20])
    os.utime(folder / "inboxes" / "ann.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    [problem] = of(Problem, events)
    assert (problem.file, problem.line, problem.fatal) == ("inboxes/ann.json", 8, True)


@pytest.mark.parametrize("data", [b"", b"{}", b"42", b"null", b"\xff\xfe[\x00]\x00", b"[" * 99_999, b'{"a":' * 50_000])
def test_what_is_no_array_is_a_problem_and_hides_no_other_inbox(tmp_path: Path, data: bytes) -> None:
    folder = team(tmp_path, ann=[entry("One.")], bob=data)
    os.utime(folder / "inboxes" / "bob.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert [problem.file for problem in of(Problem, events)] == ["inboxes/bob.json"]


def test_entries_that_are_none_are_problems_each_at_its_place(tmp_path: Path) -> None:
    value = [1, None, {"from": "ann"}, {**entry("x"), "text": 5}, entry("One."), [], {**entry("y"), "timestamp": None}]
    events = read(team(tmp_path, ann=json.dumps(value, indent=1).encode()))
    problems = of(Problem, events)
    assert len(of(Message, events)) == 1
    assert [problem.line for problem in problems] == [2, 3, 4, 7, 19, 20]
    assert problems[3].reason == "is no message: 'text' is no text"


def test_what_stands_behind_damage_is_read(tmp_path: Path) -> None:
    one, two = (json.dumps(entry(text)).encode() for text in ("One.", "Two."))
    folder = team(tmp_path, ann=b"[" + one + b', {"from": bob, ' + b'"text": {"x": 1}}, ' + two + b"]")
    os.utime(folder / "inboxes" / "ann.json", (LONG_AGO, LONG_AGO))
    assert bodies(folder) == ["One.", "Two."]
    assert len(of(Problem, read(folder))) == 1


def test_odd_bytes_and_unknown_keys_survive(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf[{"from": "ann", "text": "caf\xe9 \\ud800", "timestamp": "soon", "lead_sig": {"a": [1]}}]'
    folder = team(tmp_path, lead=data)
    with open_store(folder) as store:
        [message] = of(Message, scanned(store))
        assert store.content(message) == "caf\ufffd \ufffd"
        assert b'"lead_sig": {"a": [1]}' in store.raw(message)
    assert not message.timed
    with open_store(folder) as store:
        assert [it.id for it in of(Message, scanned(store))] == [message.id]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps([entry("Secret.")]))
    folder = team(tmp_path, ann=[entry("One.")])
    (folder / "inboxes" / "bob.json").symlink_to(outside)
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(outside)
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert {problem.file for problem in of(Problem, events)} == {"inboxes/bob.json", "config.json"}
    assert all("links are not followed" in problem.reason for problem in of(Problem, events))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One.")])
    os.mkfifo(folder / "inboxes" / "bob.json")
    assert [problem.reason for problem in of(Problem, read(folder))] == ["no regular file"]


@pytest.mark.parametrize("data", [b"not JSON", b"[]", b'{"members": {}}', b"[" * 99_999])
def test_a_roster_that_can_not_be_read_hides_no_mail(tmp_path: Path, data: bytes) -> None:
    folder = team(tmp_path, bob=[entry("One.")])
    (folder / "config.json").write_bytes(data)
    os.utime(folder / "config.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert {agent.session_id for agent in of(Agent, events)} == {"ann", "bob"}
    assert [problem.fatal for problem in of(Problem, events)] == [False]


def test_odd_members_are_passed_over(tmp_path: Path) -> None:
    folder = team(tmp_path)
    members = [1, {"name": 5}, {"name": ""}, {"name": "eve", "joinedAt": "soon", "agentType": 7}, {"name": "human"}]
    (folder / "config.json").write_text(json.dumps({"members": members}))
    assert [(agent.session_id, agent.role) for agent in of(Agent, read(folder))] == [("eve", "")]


def test_what_was_never_seen_is_gone(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One.")])
    [message] = of(Message, read(team(tmp_path / "else", ann=[entry("Other.")])))
    with open_store(folder) as store:
        scanned(store)
        with pytest.raises(ContentGone):
            store.content(message)
        with pytest.raises(ContentGone):
            store.raw(message)


@settings(max_examples=150)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.integers(0, 200))
def test_cutting_any_bytes_ends_and_finds_them_where_they_stand(noise: bytes, at: int) -> None:
    data = json.dumps([entry("One."), entry("Two.", 1)]).encode()
    data = data[:at] + noise + data[at:]
    for offset, raw in cut(data).elements:
        assert data[offset : offset + len(raw)] == raw


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Path]:
    """Return a team with 3,000 inboxes."""
    folder = team(tmp_path)
    for number in range(3000):
        write(folder, f"agent-{number}", [entry(f"Number {number}.")])
    yield folder
    shutil.rmtree(folder)


def test_thousands_of_inboxes_are_read(many: Path) -> None:
    assert sum(ids(read(many)).values()) == 3000
