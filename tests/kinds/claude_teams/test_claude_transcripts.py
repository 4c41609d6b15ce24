"""Agent teams whose messages survive in the transcripts of three releases, as real sessions left them."""

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

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.kinds.claude_teams.history import TeamTranscript
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.records.events import Event, Reset
from mailstore.records.message import Delivery, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store

REAL = Path(__file__).parents[2] / "fixtures" / "claude-code"
TEAMS = {"2.1.330": "session-83ba24d0", "2.1.330-tmux": "session-5ee99821", "2.1.110": "ink-team", "2.1.50": "ink-team"}
PROMPTS = {"ALPHA-TASK: review the parser, then tell the lead", "BETA-TASK: review the lexer, then tell the lead"}


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def home(tmp_path: Path, release: str, *, queue: bool = False) -> Path:
    """Make a program's folder with what a session left; with `queue` also all that was ever in its team's inboxes."""
    found = tmp_path / ".claude"
    shutil.copytree(REAL / release / "projects", found / "projects")
    if queue:
        shutil.copytree(REAL / release / "queue", found / "teams")
    return found


def events_of(place: Path) -> list[Event]:
    with ClaudeTeamsStore.open(place) as store:
        return scanned(store)


def messages(events: list[Event]) -> set[tuple[str, tuple[str, ...], str]]:
    return {(it.sender, it.recipients, it.subject) for it in of(Message, events)}


def reads(events: list[Event]) -> set[tuple[str, str]]:
    subjects = {it.id: it.subject for it in of(Message, events)}
    return {(subjects[it.message_id], it.reader) for it in of(Receipt, events)}


@pytest.mark.parametrize("release", TEAMS)
def test_an_ended_team_is_whole_from_its_transcripts_alone(tmp_path: Path, release: str) -> None:
    folder = home(tmp_path, release) / "teams" / TEAMS[release]
    events = events_of(folder)
    found = messages(events)
    assert {
        ("team-lead", ("alpha",), "Notes first"),
        ("alpha", ("beta",), "Commas"),
        ("beta", ("team-lead",), "Lexer"),
        ("team-lead", ("alpha",), "Shutdown requested"),
        ("beta", ("team-lead",), "Shutting down"),
    } <= found
    assert {subject for _, _, subject in found} >= PROMPTS
    assert {("Notes first", "alpha"), ("Commas", "beta"), ("Lexer", "team-lead")} <= reads(events)
    agents = {agent.session_id: agent.status for agent in of(Agent, events)}
    assert {name: agents[name] for name in ("team-lead", "alpha", "beta")} == dict.fromkeys(
        ("team-lead", "alpha", "beta"), Status.DEAD
    )
    [problem] = of(Problem, events)
    assert "has been gone since 2026-11-22 2" in problem.reason


@pytest.mark.parametrize("release", TEAMS)
def test_what_was_in_the_queue_is_the_same_message_in_the_transcripts(tmp_path: Path, release: str) -> None:
    both = home(tmp_path, release, queue=True) / "teams" / TEAMS[release]
    shutil.move(tmp_path / ".claude" / "projects", tmp_path / "aside")
    queue = events_of(both)
    shutil.rmtree(tmp_path / "state")
    shutil.move(tmp_path / "aside", tmp_path / ".claude" / "projects")
    joined = events_of(both)
    assert set(ids(queue)) < set(ids(joined)), "each keeps its id"
    only = {it.subject for it in of(Message, joined) if it.id in set(ids(joined)) - set(ids(queue))}
    if release == "2.1.330-tmux":
        return  # only the first messages were seen in its inboxes
    told_by_program = {"Teammate ended: alpha has shut down.", "Teammate ended: beta has shut down."}
    assert only - told_by_program <= {*PROMPTS, "The parser drops a comma."}
    assert len(of(Message, joined)) == len(set(ids(joined)))
    assert {("Notes first", "alpha"), ("Commas", "beta"), ("Lexer", "team-lead")} <= reads(joined)
    assert not reads(queue)


def test_a_broadcast_is_one_message_read_by_each(tmp_path: Path) -> None:
    for release in ("2.1.110", "2.1.50"):
        events = events_of(home(tmp_path / release, release) / "teams" / "ink-team")
        assert ("team-lead", ("alpha", "beta"), "Stand-up") in messages(events)
        assert {("Stand-up", "alpha"), ("Stand-up", "beta")} <= reads(events)


def test_ids_stay_when_queue_team_and_transcripts_go_one_after_the_other(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.110", queue=True)
    folder = claude / "teams" / "ink-team"
    first = events_of(folder)
    for inbox in (folder / "inboxes").iterdir():
        inbox.write_text("[]")
    assert set(ids(events_of(folder))) == set(ids(first))
    shutil.rmtree(folder)
    assert set(ids(events_of(folder))) == set(ids(first))
    shutil.rmtree(claude / "projects")
    last = events_of(folder)
    assert set(ids(last)) == set(ids(first))
    assert reads(last) == reads(first)
    reasons = [problem.reason for problem in of(Problem, last)]
    assert "6 transcripts that were read are gone: showing what was kept of them" in reasons


def test_a_folder_of_teams_shows_past_ones_and_the_person_keeps_what_it_held(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.50")
    for place in (str(claude), f"claude-teams:{claude / 'teams'}"):
        with open_store(place) as store:
            found = messages(scanned(store))
            assert ("alpha@ink-team", ("beta@ink-team",), "Commas") in found
    kept = list((tmp_path / "state").rglob("transcripts.jsonl"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
    assert stat.S_IMODE(kept[0].parent.stat().st_mode) == 0o700
    assert "run the team" not in kept[0].read_text(), "the person's own prompt is none of our business"


def test_what_a_message_shows_of_its_transcript_is_the_message(tmp_path: Path) -> None:
    with ClaudeTeamsStore.open(home(tmp_path, "2.1.110") / "teams" / "ink-team") as store:
        [parser] = [it for it in of(Message, scanned(store)) if it.subject == "Parser"]
        assert store.content(parser) == "The parser drops a comma.\nLine two with </teammate-message> inside."
        assert json.loads(store.raw(parser)).keys() == {"from", "text", "timestamp", "summary"}
        assert parser.location.file.startswith("projects/-home-ann-ink/")


def test_reading_changes_no_byte_and_no_time(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.330", queue=True)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in claude.rglob("*") if path.is_file()}
    events_of(claude)
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before}


def test_a_transcript_that_is_gone_from_the_start_is_said_and_nothing_invented(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.330")
    for path in (claude / "projects").rglob("*beta*"):
        path.unlink()
    events = events_of(claude / "teams" / "session-83ba24d0")
    reasons = [problem.reason for problem in of(Problem, events)]
    assert "no transcript of beta is left: what reached it is not known" in reasons
    assert ("alpha", ("beta",), "Commas") in messages(events)
    assert ("Commas", "beta") not in reads(events)
    main = next((claude / "projects").glob("*/*.jsonl"))
    main.unlink()
    shutil.rmtree(tmp_path / "state")
    events = events_of(claude / "teams" / "session-83ba24d0")
    reasons = [problem.reason for problem in of(Problem, events)]
    assert "no transcript of the team's lead is left: what reached it is not known" in reasons
    assert ("team-lead", ("alpha",), "Notes first") in messages(events), "the turn of its recipient has it"


def test_a_message_that_others_mention_and_no_file_has_is_said(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.330")
    for path in (claude / "projects").rglob("*a*-*.jsonl"):
        if path.parent.name == "subagents":
            path.unlink()
    reasons = [problem.reason for problem in of(Problem, events_of(claude / "teams" / "session-83ba24d0"))]
    assert "alpha wrote to beta ('Commas'), and the message is in no file" in reasons


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def test_a_growing_transcript_is_read_on_and_its_receipt_comes_with_the_answer(tmp_path: Path) -> None:
    claude = home(tmp_path, "2.1.330", queue=True)
    folder = claude / "teams" / "session-83ba24d0"
    agent = next((claude / "projects").rglob("agent-abeta*.jsonl"))
    lines = agent.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b"do you see commas" in line)
    answer = next(number for number in range(at, len(lines)) if b'"type":"assistant"' in lines[number])
    agent.write_bytes(b"".join(lines[:at]))

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            with agent.open("ab") as file:
                file.write(lines[at][:50])
                file.flush()
                file.write(lines[at][50:])
            told = await came.until(lambda events: any(isinstance(it, Delivery) for it in events))
            assert not of(Receipt, told)
            with agent.open("ab") as file:
                file.writelines(lines[at + 1 : answer + 1])
            return [*told, *await came.until(lambda events: bool(of(Receipt, events)))]

    with ClaudeTeamsStore.open(folder) as store:
        before = scanned(store)
        assert ("Commas", "beta") not in reads(before)
        events = asyncio.run(story(store))
    assert not of(Reset, events)
    assert not of(Message, events), "it was known from the queue"
    assert reads([*before, *events]) - reads(before) == {("Commas", "beta")}


def test_a_second_opening_reads_on_where_the_first_one_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claude = home(tmp_path, "2.1.330")
    main = next((claude / "projects").glob("*/*.jsonl"))
    first = events_of(claude)
    offsets: list[int] = []
    pread = os.pread

    def noted(fd: int, size: int, offset: int) -> bytes:
        if os.fstat(fd).st_ino == main.stat().st_ino and size > 1 << 20:
            offsets.append(offset)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", noted)
    again = events_of(claude)
    assert set(ids(again)) == set(ids(first))
    assert of(Agent, again) == of(Agent, first)
    assert of(Problem, again) == of(Problem, first)
    assert min(offsets, default=1 << 40) >= main.stat().st_size - 1


def test_the_mail_in_the_inboxes_is_shown_before_a_transcript_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home(tmp_path, "2.1.330", queue=True) / "teams" / "session-83ba24d0"
    read: list[Path] = []
    monkeypatch.setattr(TeamTranscript, "read", lambda self: read.append(self.path) or [])
    with ClaudeTeamsStore.open(folder) as store:
        batches = store.scan()
        assert of(Message, next(batches))
        assert not read
        assert of(Message, [event for batch in batches for event in batch]) == []
        assert len(read) == 3
