"""Rosters of a HAAK mailbox as programs write them: both forms, rewritten, in pieces (docs/formats/haak.md#reading)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.files.lines import Replaced
from mailstore.haak import HaakStore
from mailstore.haak.places import MailboxFiles
from mailstore.haak.read import roster
from mailstore.haak.read.roster import RosterReader
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent, Status
from tests.mailboxes import NOW, MailFiles, iso
from tests.mailstore.haak_reading import events, fatal, folded, problems

Story = Callable[[Follower], Coroutine[None, None, None]]
LIVE = [{"session_id": "ann", "state": "live"}, {"session_id": "bob", "state": "live"}]
NAMES = ["agent-roster.jsonl", "agent-roster.json"]
both = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("m", "bob", "ann")
    return mail


def text(name: str, agents: list[dict[str, Any]]) -> str:
    """Return agents as the roster of that name has them."""
    return json.dumps(agents) if name.endswith("json") else "".join(json.dumps(agent) + "\n" for agent in agents)


def put(path: Path, contents: str) -> None:
    """Replace a file as a program does that writes another one first."""
    new = path.with_name("new")
    new.write_text(contents)
    new.replace(path)


def follow(mail: MailFiles, story: Story) -> list[Event]:
    """Scan a mailbox and follow it through a story; return what came."""

    async def run(store: HaakStore) -> list[Event]:
        async with following(store) as came:
            await story(came)
            return came.events

    with HaakStore.open(mail.data) as store:
        scanned(store)
        return asyncio.run(run(store))


def has(session_id: str, status: str) -> Callable[[list[Event]], bool]:
    return lambda events: any((one.session_id, one.status) == (session_id, status) for one in of(Agent, events))


# What a roster says


def test_every_field_of_an_agent_goes_by_several_names(mail: MailFiles) -> None:
    table = {
        "session_id": "a",
        "name": "Ann",
        "role": "architect",
        "tags": ["project:x", "role:y"],
        "status": "dead",
        "activity": "thinks",
        "started_at": iso(NOW - 3),
        "ended_at": iso(NOW - 2),
        "last_seen": iso(NOW - 1),
        "updated": iso(NOW),
    }
    memos = {
        "session_id": "a",
        "name": "Ann",
        "role": "architect",
        "tags": "project:x, role:y",
        "state": "buried",
        "summary": "thinks",
        "registered": iso(NOW - 3),
        "died_at": iso(NOW - 2),
        "heartbeat": iso(NOW - 1),
        "updated_at": iso(NOW),
        "model": "opus",
        "parent_session": None,
    }
    mail.line(table, mail.roster)
    mail.line(memos, mail.roster)
    first, second = of(Agent, events(mail))
    assert first == replace(second, extra="")
    assert json.loads(second.extra) == {"model": "opus", "parent_session": None}
    assert first.tags == ("project:x", "role:y")
    assert (first.started_at, first.ended_at, first.last_seen, first.updated) == (NOW - 3, NOW - 2, NOW - 1, NOW)


def test_what_is_no_agent_is_told(mail: MailFiles) -> None:
    for line in (b'{"name": "Ann"}\n', b"no json\n", b'["a"]\n', b'{"session_id": 7, "state": "live"}\n'):
        mail.line(line, mail.roster)
    assert [agent.session_id for agent in of(Agent, events(mail))] == ["7"]
    assert [number for number, _ in fatal(mail)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ('{"agents": [', "invalid JSON"),
        ('"a roster"', "not a roster"),
        ('[{"name": "Ann"}]', "no session id"),
        ("[" * 9999, ""),
    ],
    ids=["cut", "text", "nameless", "deep"],
)
def test_a_document_that_is_no_roster_is_told(mail: MailFiles, contents: str, reason: str) -> None:
    (mail.data / NAMES[1]).write_text(contents)
    assert [reason in one.reason for one in problems(mail)] == [True]


def test_where_both_rosters_know_an_agent_the_lines_win(mail: MailFiles) -> None:
    (mail.data / NAMES[1]).write_text(json.dumps(LIVE))
    mail.agent("ann", "frozen")
    assert {one.session_id: str(one.status) for one in of(Agent, events(mail))} == {"ann": "frozen", "bob": "living"}


# Following


@both
def test_a_roster_that_appears_and_is_rewritten_makes_nothing_else_void(mail: MailFiles, name: str) -> None:
    path = mail.data / name

    async def story(came: Follower) -> None:
        put(path, text(name, LIVE))
        await came.until(has("bob", "living"))
        put(path, text(name, [LIVE[1], {"session_id": "ann", "state": "frozen", "role": "architect"}]))
        await came.until(has("ann", "frozen"))
        path.write_text(text(name, [*LIVE, {"session_id": "cem", "state": "dead"}]))
        await came.until(has("cem", "dead"))

    came = follow(mail, story)
    assert {type(event) for event in came} == {Agent}


def test_warnings_of_a_roster_that_is_rewritten_are_told_once(mail: MailFiles) -> None:
    mail.line({"session_id": "ann"}, mail.roster)

    async def story(came: Follower) -> None:
        put(mail.roster, mail.roster.read_text() + text(NAMES[0], [{"session_id": "bob", "state": "dead"}]))
        await came.until(has("bob", "dead"))

    assert not of(Problem, follow(mail, story))


@both
def test_a_roster_that_is_written_in_pieces_is_waited_for(
    mail: MailFiles, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "PATIENCE_SECONDS", 600)
    path = mail.data / name
    whole = text(name, LIVE)
    path.write_text(whole)

    async def story(came: Follower) -> None:
        for at, piece in enumerate(["", whole[: len(whole) // 2]]):
            path.write_text(piece)
            mail.message(f"meanwhile{at}", "bob", "ann")
            await came.until_message(f"meanwhile{at}")
        path.write_text(whole.replace("live", "dead"))
        await came.until(has("bob", "dead"))

    came = follow(mail, story)
    assert {type(event) for event in came} == {Message, Agent}


@both
def test_when_agents_have_left_a_roster_everything_is_read_anew(
    mail: MailFiles, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "PATIENCE_SECONDS", 0)
    path = mail.data / name
    path.write_text(text(name, LIVE))

    async def story(came: Follower) -> None:
        put(path, text(name, LIVE[:1]))
        await came.until(lambda events: ids(events)["m"] == 1)
        path.unlink()
        await came.until(lambda events: ids(events)["m"] == 2)

    came = follow(mail, story)
    assert [
        event.session_id if isinstance(event, Agent) else type(event) for event in came if not of(Message, [event])
    ][:2] == [Reset, "ann"]
    last = max(at for at, event in enumerate(came) if isinstance(event, Reset))
    assert not of(Agent, came[last:])


def test_a_document_that_stays_broken_is_told_once_and_its_agents_stay(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "PATIENCE_SECONDS", 0)
    path = mail.data / NAMES[1]
    path.write_text(json.dumps(LIVE))

    async def story(came: Follower) -> None:
        path.write_text('[{"session_id"')
        await came.until(lambda events: bool(of(Problem, events)))
        mail.message("after", "bob", "ann")
        await came.until_message("after")

    assert {type(event) for event in follow(mail, story)} == {Problem, Message}


# Writing


def entries(mail: MailFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mail.roster.read_text().splitlines()]


def ours(seconds: float) -> str:
    """Return a moment as this program writes it."""
    return iso(seconds).replace("Z", ".000Z")


def test_an_agent_is_written_in_the_names_and_words_of_its_roster(mail: MailFiles) -> None:
    old = {
        "session_id": "ann",
        "state": "live",
        "role": "architect",
        "tags": ["project:x"],
        "summary": "thinks",
        "registered": iso(NOW - 9),
        "updated_at": iso(NOW),
        "model": "opus",
        "parent_session": None,
    }
    mail.line({**old, "session_id": "bob", "state": "buried"}, mail.roster)
    mail.line(old, mail.roster)
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann", tags=("concern:y",), status=Status.DEAD, ended_at=NOW, started_at=NOW))
    *before, new = entries(mail)
    assert [entry["session_id"] for entry in before] == ["bob", "ann"]
    assert new.pop("updated_at") > old["updated_at"]
    expected = {"state": "buried", "role": None, "tags": ["concern:y"], "summary": None, "registered": ours(NOW)}
    del old["updated_at"]
    assert new == {**old, **expected, "ended_at": ours(NOW)}


def test_tags_that_were_one_text_stay_one(mail: MailFiles) -> None:
    mail.line({"session_id": "ann", "state": "live", "tags": "project:x"}, mail.roster)
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann", tags=("project:x", "concern:y")))
    assert entries(mail)[-1]["tags"] == "project:x, concern:y"


def test_moments_that_stay_are_written_as_they_stood(mail: MailFiles) -> None:
    stamps = {"started_at": "2026-03-16T09:00:00.123456+01:00", "last_seen": iso(NOW)}
    mail.line({"session_id": "ann", "status": "living", **stamps}, mail.roster)
    with HaakStore.open(mail.data) as store:
        [known] = [event for event in scanned(store) if isinstance(event, Agent)]
        store.update_agent(replace(known, activity="thinks"))
    new = entries(mail)[-1]
    assert {name: new[name] for name in stamps} == stamps


def test_an_agent_that_lives_again_has_no_end(mail: MailFiles) -> None:
    mail.line({"session_id": "ann", "status": "dead", "ended_at": iso(NOW), "note": 1}, mail.roster)
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann"))
    new = entries(mail)[-1]
    assert ("ended_at" in new, new["status"], new["note"]) == (False, "living", 1)


def test_a_roster_that_is_empty_gets_the_names_of_the_table(mail: MailFiles) -> None:
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann", role="architect", tags=("project:x",), last_seen=NOW))
        store.update_agent(Agent("ann", role="librarian", last_seen=NOW))
    first, second = entries(mail)
    assert set(first) == {"session_id", "role", "tags", "status", "last_seen", "updated"}
    assert (first["status"], second["role"]) == ("living", "librarian")
    agent = folded(mail).roster.get("ann")
    assert agent is not None
    assert (agent.role, agent.last_seen) == ("librarian", NOW)


@pytest.mark.parametrize(
    ("document", "agents"),
    [
        ([{"session_id": "ann", "state": "live", "x": 1}, None], lambda written: [written[0], written[2]]),
        ({"ann": {"state": "live", "x": 1}}, lambda written: [written["ann"], written["bob"]]),
        ({"v": 1, "agents": [{"session_id": "ann", "x": 1}]}, lambda written: written["agents"]),
        ({"v": 1, "agents": {"a": {"session_id": "ann", "x": 1}}}, lambda written: list(written["agents"].values())),
    ],
)
def test_a_document_keeps_its_form_and_all_that_is_not_changed(mail: MailFiles, document: Any, agents: Any) -> None:
    path = mail.data / NAMES[1]
    path.write_text(json.dumps(document))
    with HaakStore.open(mail.data) as store:
        store.update_agent(Agent("ann", role="architect", status=Status.FROZEN))
        store.update_agent(Agent("bob", role="librarian"))
    written = json.loads(path.read_text())
    assert [(one.get("x"), one["role"]) for one in agents(written)] == [(1, "architect"), (None, "librarian")]
    assert type(written) is type(document)
    assert set(document) <= set(written) if isinstance(document, dict) else written[1] is None
    found = {one.session_id: (one.role, str(one.status)) for one in of(Agent, events(mail))}
    assert found == {"ann": ("architect", "frozen"), "bob": ("librarian", "living")}
    assert not mail.roster.exists()


def test_an_agent_of_the_document_that_comes_to_the_lines_makes_all_void(mail: MailFiles) -> None:
    document = mail.data / "agent-roster.json"
    document.write_text(json.dumps([{"session_id": "ann", "role": "clerk"}, {"session_id": "bob"}]))
    reader = RosterReader(MailboxFiles(mail.mailbox))
    reader.read()
    said = reader.said()
    mail.agent("ann")
    with pytest.raises(Replaced):
        reader.read()
    with pytest.raises(Replaced):
        RosterReader(MailboxFiles(mail.mailbox)).resume(said)
