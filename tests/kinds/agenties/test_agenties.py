"""The mailbox of an Agenties project: the documented sample, what its lines say, and what its owner does to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing
from mailstore.files.salvage import Piece
from mailstore.kinds.agenties.decode import NotAMessage, decode
from mailstore.kinds.agenties.store import AgentiesStore, agents
from mailstore.records.message import NEVER, SOMEBODY, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from tests.kinds.agenties.agenties_project import FIXTURE, TWO, Project
from tests.mailboxes import MailFiles

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("id", "type", "from", "to", "subject", "body", "issueId", "agentId", "read", "createdAt")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_sample_is_read() -> None:
    with AgentiesStore.open(FIXTURE) as store:
        events = scanned(store)
    found = [(one.id, one.sender, one.recipients, one.type, one.is_tracked) for one in of(Message, events)]
    assert found == [
        ("msg_003", "ag_x2", ("all",), "status", False),
        ("msg_002", "ag_x1", ("orchestrator",), "task-done", True),
        ("msg_001", "orchestrator", ("ag_x1",), "task-assigned", True),
    ]
    assert of(Receipt, events) == [Receipt("msg_001", "ag_x1")]
    assert {(one.session_id, one.activity) for one in of(Agent, events)} == {
        ("orchestrator", ""),
        ("ag_x1", "idle (inferred)"),
        ("ag_x2", "idle (inferred)"),
    }
    first = of(Message, events)[-1]
    assert (first.time, first.ttl_hours, first.subject) == (TWO, NEVER, "...")


@pytest.mark.parametrize("place", ["", ".agenties", ".agenties/mailbox.jsonl"])
def test_it_is_found_by_its_file_its_folder_or_the_project(place: str) -> None:
    with open_store(FIXTURE / place) as store:
        assert store.url == f"agenties:{FIXTURE}/.agenties/mailbox.jsonl"
        assert store.title == "agenties/.agenties"


def test_it_is_known_by_its_lines_wherever_it_lies(tmp_path: Path) -> None:
    copy = tmp_path / "kept.jsonl"
    copy.write_bytes((FIXTURE / ".agenties/mailbox.jsonl").read_bytes())
    with open_store(copy) as store:
        assert isinstance(store, AgentiesStore)
        assert store.title == f"{tmp_path.name}/kept.jsonl"
    assert not AgentiesStore.recognise(MailFiles(tmp_path).mailbox)


def test_where_there_is_none_it_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(MailboxMissing, match="name the project's folder"):
        AgentiesStore.open(tmp_path)


@pytest.mark.parametrize("named", ["", ".agenties", ".agenties/mailbox.jsonl", "kept.jsonl"])
def test_a_new_log_is_made_where_its_project_would_make_it(tmp_path: Path, named: str) -> None:
    expected = tmp_path / (named if named.endswith(".jsonl") else ".agenties/mailbox.jsonl")
    with AgentiesStore.create(tmp_path / named) as store:
        assert store.url == f"agenties:{expected}"
    assert expected.read_bytes() == b""
    expected.write_bytes(b"{}\n")
    AgentiesStore.create(tmp_path / named).close()
    assert expected.read_bytes() == b"{}\n"


# Lines


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("agent:ag_x1", "ag_x1"),
        ("orchestrator", "orchestrator"),
        ("role:builder", "role:builder"),
        ("broadcast", "all"),
        ("user", "user"),
        ("agent:user", "agent:user"),
        ("agent:role:x", "agent:role:x"),
        (7, "7"),
        (["agent:a", "agent:b"], None),
    ],
)
def test_addresses_are_read_as_this_program_writes_them(project: Project, address: Any, expected: str | None) -> None:
    assert project.one(to=address).recipients == ((expected,) if expected else ("a", "b"))


@pytest.mark.parametrize(
    ("to", "readers", "is_tracked"),
    [
        ("agent:ag_x1", ["ag_x1"], True),
        ("user", ["user"], True),
        ("role:builder", ["builder", SOMEBODY], True),
        ("broadcast", [SOMEBODY], False),
    ],
)
def test_a_flag_tells_that_a_message_was_read_and_by_whom_only_of_one(
    project: Project, to: str, readers: list[str], is_tracked: bool
) -> None:
    message = project.one(to=to, read=True)
    assert message.is_tracked is is_tracked
    assert of(Receipt, project.events()) == [Receipt("m", reader) for reader in readers]


def test_a_broadcast_that_was_read_is_shown_so(project: Project) -> None:
    project.message("m", **{"from": "agent:ag_x1"}, to="broadcast", read=True)
    project.message("n", to="agent:ag_x2")
    mailbox = Mailbox()
    mailbox.fold(project.events(), TWO)
    message = mailbox.message("m")
    assert message is not None
    states = {name: one.state for name, one in mailbox.states(message, TWO).items()}
    assert states == {"ag_x2": State.UNRECORDED, "orchestrator": State.UNRECORDED, SOMEBODY: State.READ}


def test_role_mail_is_one_recipient_s(project: Project) -> None:
    project.team([{"id": "ag_x1", "role": "builder"}])
    project.message("old", to="role:builder", read=True)
    project.message("new", to="role:builder")
    mailbox = Mailbox()
    mailbox.fold(project.events(), TWO)
    assert [message.id for message in mailbox.unread("ag_x1", TWO)] == ["new"]


def test_what_a_message_is_about_is_a_tag_and_the_record_stays(project: Project) -> None:
    message = project.one(issueId="ISS-7", agentId="ag_x9", metadata={"deep": [1]}, subject="Short")
    assert (message.tags, message.subject) == (("issue:ISS-7", "agent:ag_x9", "deep:[1]"), "Short")
    with AgentiesStore.open(project.root) as store:
        assert json.loads(store.raw(message))["metadata"] == {"deep": [1]}


def test_an_answer_that_names_no_message_is_to_the_last_question_before_it(project: Project) -> None:
    ask = {"type": "question", "from": "agent:ag_x1", "to": "orchestrator"}
    answer = {"type": "answer", "from": "orchestrator", "to": "agent:ag_x1", "createdAt": "2026-05-10T14:20:00Z"}
    project.message("q1", **ask, issueId="ISS-1")
    project.message("q2", **ask, issueId="ISS-2", createdAt="2026-05-10T14:01:00Z")
    project.message("other", **{**ask, "from": "agent:ag_x2"})
    project.message("early", **{**answer, "createdAt": "2026-05-10T13:00:00Z"})
    assert project.unanswered() == ["other", "q1", "q2"]
    project.message("a1", **answer, issueId="ISS-1")
    assert project.unanswered() == ["other", "q2"]
    project.message("not-it", **answer, issueId="ISS-3")
    project.message("nor-it", **{**answer, "from": "agent:ag_x2"})
    assert project.unanswered() == ["other", "q2"]
    project.message("a2", **{**answer, "from": "user"})
    assert project.unanswered() == ["other"]
    project.message("more", **answer)
    assert project.unanswered() == ["other"]


def test_the_last_line_of_an_id_holds(project: Project) -> None:
    project.message("m", body="Before.")
    project.message("n", createdAt="2026-05-10T15:00:00Z")
    project.message("m", body="After.", read=True)
    events = project.events()
    assert ids(events) == {"m": 1, "n": 1}
    assert of(Receipt, events) == [Receipt("m", "ag_x1")]
    with AgentiesStore.open(project.root) as store:
        [message] = [one for one in of(Message, scanned(store)) if one.id == "m"]
        assert store.content(message) == "After."


def test_a_whole_record_without_its_newline_is_read_and_a_part_of_one_is_not(project: Project) -> None:
    project.append(project.line("whole").rstrip(b"\n"))
    assert ids(project.events()) == {"whole": 1}
    project.append(b"\n" + project.line("part")[:-3])
    assert ids(events := project.events()) == {"whole": 1}
    assert not of(Problem, events)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[1]\n", "not a message (JSON list)"),
        (b"no JSON\n", "invalid JSON"),
        (b'{"from": "user", "to": "orchestrator"}\n', "it has no body"),
        (b'{"to": "user", "body": "x"}\n', "it has no sender"),
        (b'{"from": "user", "body": "x", "to": []}\n', "it has no recipient"),
        (b"\x00\x00\x00\n", "3 NUL bytes in a row"),
        (b"[" * 100_000 + b"\n", "invalid JSON"),
    ],
)
def test_what_is_no_message_is_a_problem_and_the_others_are_read(project: Project, data: bytes, reason: str) -> None:
    project.message("before")
    start = project.log.stat().st_size
    project.append(data)
    project.message("after")
    events = project.events()
    assert ids(events) == {"before": 1, "after": 1}
    [problem] = of(Problem, events)
    assert (problem.file, problem.line, problem.fatal) == ("mailbox.jsonl", 2, True)
    assert problem.offset in (start, start + 3)
    assert reason in problem.reason


@pytest.mark.parametrize(
    "more",
    [
        {"body": {"text": [1]}, "createdAt": 1_778_421_600_000, "read": "true"},
        {"type": 7, "subject": [], "issueId": {}, "agentId": False, "metadata": 1, "read": None},
        {"body": "x" * 3_000_000, "mentions": None},
        {"id": 9_007_199_254_740_993, "createdAt": "9" * 300},
    ],
)
def test_odd_values_survive(project: Project, more: dict[str, Any]) -> None:
    project.append(project.line("m", **more))
    assert len(of(Message, project.events())) == 1


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_record_is_a_message_or_says_why_not(record: dict[str, Any]) -> None:
    try:
        entry = decode(Piece(0, b"", record), 0.0)
    except NotAMessage:
        return
    assert entry.message.id
    assert entry.message.sender
    assert all(entry.message.recipients)
    assert all(agent.session_id for agent in agents({}, [entry]))


def test_a_wrong_encoding_survives(project: Project) -> None:
    project.append(b'{"id":"m","from":"user","to":"orchestrator","body":"a \xff b","createdAt":"2026-05-10"}\n')
    with AgentiesStore.open(project.root) as store:
        [message] = of(Message, scanned(store))
        assert store.content(message) == "a \ufffd b"
        assert b"\xff" in store.raw(message)


def test_a_link_is_not_followed(project: Project, tmp_path: Path) -> None:
    project.message("m")
    with AgentiesStore.open(project.root) as store:
        [message] = of(Message, scanned(store))
        project.log.rename(tmp_path / "moved")
        project.log.symlink_to(tmp_path / "moved")
        with pytest.raises(ContentGone):
            store.content(message)
    with pytest.raises(MailboxMissing):
        AgentiesStore.open(project.root)
    assert not AgentiesStore.recognise(project.root)


# Agents


@pytest.mark.parametrize(
    "document",
    [
        [{"id": "ag_x1", "name": "Xen", "role": "builder"}],
        {"members": [{"id": "agent:ag_x1", "name": "Xen", "role": "builder", "more": [1]}, None, 5.5, {"id": "user"}]},
        {"members": {"ag_x1": {"name": "Xen", "role": "builder"}}},
    ],
)
@pytest.mark.parametrize("name", ["shared/team.json", "team.json"])
def test_the_members_of_the_team_are_agents(project: Project, document: Any, name: str) -> None:
    project.team(document, name)
    assert project.agents()["ag_x1"] == Agent("ag_x1", "Xen", "builder")


@pytest.mark.parametrize("document", [b"{", b"[[[", b"5", b'"x"', {"members": 7}, {}])
def test_a_team_of_another_shape_hides_nobody(project: Project, document: Any) -> None:
    project.team(document)
    project.message("m")
    assert set(project.agents()) == {"orchestrator", "ag_x1"}


@pytest.mark.parametrize(
    ("lines", "activity"),
    [
        ([("task-assigned", "agent:a", 1)], "working (inferred)"),
        ([("task-assigned", "agent:a", 1), ("task-done", "", 2)], "idle (inferred)"),
        ([("task-assigned", "agent:a", 1), ("cancel", "agent:a", 2)], "idle (inferred)"),
        ([("task-assigned", "agent:a", 3), ("task-done", "", 2)], "working (inferred)"),
        ([("task-assigned", "role:builder", 1)], "working (inferred)"),
        ([("status", "", 1)], "idle (inferred)"),
    ],
)
def test_who_works_is_inferred(project: Project, lines: list[tuple[str, str, int]], activity: str) -> None:
    for number, (kind, to, second) in enumerate(lines):
        ends = {"from": "orchestrator", "to": to} if to else {"from": "agent:a", "to": "orchestrator"}
        about = {"agentId": "a"} if to.startswith("role:") else {}
        project.message(f"m{number}", type=kind, createdAt=f"2026-05-10T14:00:0{second}Z", **ends, **about)
    assert project.agents()["a"].activity == activity
