"""Mail that the person sends to a team: as its own program writes it, or not at all."""

from __future__ import annotations

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import DraftRefused, MailboxBusy, StoreError, Unsupported
from mailstore.kinds.claude_teams import writer
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.kit import lock_files
from mailstore.records.draft import Draft, draft
from mailstore.records.message import Message
from mailstore.registry import open_store

FIXTURE = Path(__file__).parents[2] / "fixtures" / "claude-teams"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """Return a copy of a real team of three."""
    return Path(shutil.copytree(FIXTURE, tmp_path / "teams")) / "humble-chasing-goose"


def item(*recipients: str, content: str = "Hello.", subject: str = "") -> Draft:
    return draft(sender="user", recipients=recipients, content=content, subject=subject)


def send(folder: Path, wanted: Draft) -> Message:
    with open_store(folder) as store:
        return store.send(wanted)


def inbox(team: Path, name: str) -> Path:
    return team / "inboxes" / f"{name}.json"


def test_an_entry_is_appended_as_the_teams_own_program_does(team: Path) -> None:
    path = inbox(team, "team-lead")
    before = path.read_text()
    sent = send(team, item("team-lead", content="Grüße,\n“you”.", subject="A word"))
    after = path.read_text()
    assert after.startswith(before[: before.rindex("\n]")] + ",\n  {\n    ")
    entry = json.loads(after)[-1]
    assert list(entry) == ["from", "text", "timestamp", "read", "msgV", "msg_id", "type", "summary"]
    assert (entry["from"], entry["text"], entry["read"]) == ("human", "Grüße,\n“you”.", False)
    assert (entry["msgV"], entry["type"], entry["summary"], entry["msg_id"]) == (1, "message", "A word", sent.id)
    assert len(entry["timestamp"]) == len("2026-02-07T15:20:46.348Z")
    assert "Grüße" in after
    assert after == json.dumps(json.loads(after), indent=2, ensure_ascii=False)
    assert sorted(path.name for path in (team / "inboxes").iterdir()) == sorted(
        ["docs-events.json", "docs-types.json", "team-lead.json"]
    )
    assert (sent.sender, sent.subject) == ("user", "A word")


@pytest.mark.parametrize("before", [None, b"", b"[]", b"[ ]\n", b"[\n]\n\n"])
def test_an_empty_inbox_or_none_is_begun(team: Path, before: bytes | None) -> None:
    path = inbox(team, "docs-types")
    path.unlink()
    if before is not None:
        path.write_bytes(before)
    send(team, item("docs-types"))
    [entry] = json.loads(path.read_bytes())
    assert entry["text"] == "Hello."


def test_a_team_that_has_no_inboxes_yet_gets_them(team: Path) -> None:
    shutil.rmtree(team / "inboxes")
    send(team, item("docs-types"))
    assert len(json.loads(inbox(team, "docs-types").read_bytes())) == 1


def test_unknown_keys_and_odd_entries_stay_byte_for_byte(team: Path) -> None:
    path = inbox(team, "docs-types")
    path.write_bytes(b'[ {"b":1e2,"a":{"x" : [ ]},"from":"caf\xc3\xa9"} , 7 ]')
    send(team, item("docs-types"))
    assert path.read_bytes().startswith(b'[ {"b":1e2,"a":{"x" : [ ]},"from":"caf\xc3\xa9"} , 7,\n  {\n')
    assert len(json.loads(path.read_bytes())) == 3


def test_several_recipients_have_one_message_with_one_id(team: Path) -> None:
    sent = send(team, item("docs-types", "docs-events"))
    entries = [json.loads(inbox(team, name).read_bytes())[-1] for name in ("docs-types", "docs-events")]
    assert entries[0] == entries[1]
    with open_store(team) as store:
        [found] = [message for message in of(Message, scanned(store)) if message.id == sent.id]
    assert found == sent
    assert found.recipients == ("docs-events", "docs-types")
    assert found.is_listed


def test_all_is_every_member(team: Path) -> None:
    sent = send(team, item("all"))
    assert set(sent.recipients) == {"team-lead", "docs-types", "docs-events"}


def test_an_agent_of_several_teams_is_written_to_by_its_full_name(team: Path) -> None:
    sent = send(team.parent, item("docs-types@humble-chasing-goose"))
    assert sent.recipients == ("docs-types@humble-chasing-goose",)
    with open_store(team.parent) as store:
        assert sent in of(Message, scanned(store))


@pytest.mark.parametrize(
    ("recipients", "said"),
    [
        (("docs-type",), "members: team-lead, docs-types, docs-events"),
        (("user",), "not a member"),
        (("../../x",), "not a member"),
        (("docs-types", "nobody"), "not a member"),
    ],
)
def test_who_is_no_member_gets_no_phantom_inbox(team: Path, recipients: tuple[str, ...], said: str) -> None:
    before = {path: path.read_bytes() for path in team.rglob("*") if path.is_file()}
    with pytest.raises(DraftRefused, match=said):
        send(team, item(*recipients))
    assert {path: path.read_bytes() for path in team.rglob("*") if path.is_file()} == before


def test_two_teams_are_written_to_one_by_one(team: Path) -> None:
    with pytest.raises(DraftRefused, match="several teams"):
        send(team.parent, item("docs-types@humble-chasing-goose", "team-lead@analysis-team"))


def test_a_member_whose_name_is_no_file_s_is_none(team: Path) -> None:
    (team / "config.json").write_text(json.dumps({"members": [{"name": "../../evil"}, {"name": ".hidden"}]}))
    for name in ("../../evil", ".hidden"):
        with pytest.raises(DraftRefused):
            send(team, item(name))


def test_only_the_person_can_send(team: Path) -> None:
    with pytest.raises(DraftRefused, match="team-lead"):
        send(team, draft(sender="team-lead", recipients=("docs-types",), content="Obey."))


@pytest.mark.parametrize("data", [b'[{"from": "a"', b"{}", b"[1,,2]"])
def test_an_inbox_that_is_damaged_is_left_alone(team: Path, data: bytes) -> None:
    inbox(team, "docs-types").write_bytes(data)
    before = inbox(team, "docs-events").read_bytes()
    with pytest.raises(StoreError):
        send(team, item("docs-events", "docs-types"))
    assert inbox(team, "docs-types").read_bytes() == data
    assert inbox(team, "docs-events").read_bytes() == before


def test_an_inbox_that_is_a_link_is_not_written_through(team: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("[]")
    inbox(team, "docs-types").unlink()
    inbox(team, "docs-types").symlink_to(outside)
    with pytest.raises(StoreError, match="link"):
        send(team, item("docs-types"))
    assert outside.read_text() == "[]"


def test_a_lock_that_was_left_behind_is_taken_over(team: Path) -> None:
    held = team / "inboxes" / "docs-types.json.lock"
    held.mkdir()
    os.utime(held, (time.time() - 11, time.time() - 11))
    send(team, item("docs-types"))
    assert not held.exists()


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    clock = SimpleNamespace(monotonic=ticks.__next__, sleep=lambda _: None)
    monkeypatch.setattr(lock_files, "time", clock)


def test_a_lock_that_was_left_just_now_is_waited_for(team: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = team / "inboxes" / "docs-types.json.lock"
    held.mkdir()
    start = held.stat().st_mtime
    ticks = iter(range(1000))
    passed: list[float] = []
    clock = SimpleNamespace(
        monotonic=lambda: sum(passed) + next(ticks) / 1000, sleep=passed.append, time=lambda: start + sum(passed)
    )
    monkeypatch.setattr(writer, "time", clock)
    monkeypatch.setattr(lock_files, "time", clock)
    send(team, item("docs-types"))
    assert writer.STALE_SECONDS < sum(passed) < writer.PATIENCE_SECONDS


def test_a_lock_that_is_held_is_not_broken(team: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = team / "inboxes" / "docs-types.json.lock"
    held.mkdir()
    hurry(monkeypatch)
    before = inbox(team, "docs-types").read_bytes()
    with pytest.raises(MailboxBusy):
        send(team, item("docs-types"))
    assert held.exists()
    assert inbox(team, "docs-types").read_bytes() == before


def test_what_reached_only_some_is_told(team: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (team / "inboxes" / "docs-events.json.lock").mkdir()
    hurry(monkeypatch)
    with pytest.raises(StoreError, match=r"sent to docs-types, not to docs-events \(.*locked") as caught:
        send(team, item("docs-types", "docs-events"))
    assert caught.value.remedy == "send it to docs-events alone"
    assert json.loads(inbox(team, "docs-types").read_bytes())[-1]["text"] == "Hello."


def test_many_writers_lose_nothing(team: Path) -> None:
    with open_store(team) as store, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.send(item("docs-types", content=f"Number {number}.")), range(40)))
    texts = {entry["text"] for entry in json.loads(inbox(team, "docs-types").read_bytes())}
    assert {f"Number {number}." for number in range(40)} <= texts


@pytest.mark.parametrize("place", [".", ".."])
def test_a_member_is_meant_by_its_bare_name_and_by_its_team_s(team: Path, place: str) -> None:
    shutil.rmtree(team.parent / "analysis-team")
    for to in ("team-lead", "team-lead@humble-chasing-goose"):
        sent = send(team / place, item(to, content=to))
        assert json.loads(inbox(team, "team-lead").read_text())[-1]["text"] == to
        assert sent.recipients[0].partition("@")[0] == "team-lead"


def test_a_name_in_two_teams_is_refused_with_both(team: Path) -> None:
    with pytest.raises(DraftRefused, match="in 2 teams") as caught:
        send(team.parent, item("team-lead"))
    assert caught.value.remedy == "use team-lead@analysis-team or team-lead@humble-chasing-goose"
    sent = send(team.parent, item("docs-types"))
    assert sent.recipients == ("docs-types@humble-chasing-goose",)


def test_a_team_that_is_gone_is_not_made_anew(team: Path) -> None:
    with open_store(team) as store:
        shutil.rmtree(team)
        with pytest.raises(StoreError):
            store.send(item("docs-types"))
    assert not team.exists()


def test_marking_read_would_lose_mail(team: Path) -> None:
    with open_store(team) as store, pytest.raises(Unsupported, match="never delivered"):
        store.mark_read("user", ["m"])
    assert isinstance(store, ClaudeTeamsStore)
