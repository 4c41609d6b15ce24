from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, Dialect, every_case

ANN, FRO = "ann-00000001", "fro-00000001"
ROW = ["id", "sender", "recipients", "timestamp", "subject", "content", "thread", "type", "states"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_state_of_every_kind_of_address_is_told(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail, expected = every_case(tmp_path, time.time(), dialect)
    told = {}
    for message_id in expected:
        [row] = run("thread", message_id, "--json", "--store", mail.url).document
        told[row["id"]] = row["states"]
    assert told == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_message_row_has_the_fields_of_the_interface(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail, _ = every_case(tmp_path, time.time(), dialect)
    [row] = run("thread", "tag-union", "--json", "--store", mail.url).document
    assert list(row) == ROW
    assert row["recipients"] == ["project:ink", "concern:rules"]
    assert (row["sender"], row["thread"]) == ("steward-0001", None)
    assert row["content"] == row["subject"] == "The text of tag-union."
    [row] = run("thread", "user-unread", "--json", "--store", mail.url).document
    assert row["type"] == "question"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dead_letters_are_those_that_nobody_settled(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail, _ = every_case(tmp_path, time.time(), dialect)
    rows = run("dead-letters", "--json", "--store", mail.url).document
    assert {(row["message_id"], row["recipient"], row["state"]) for row in rows} == {
        ("direct-expired", ANN, "expired"),
        ("direct-short", ANN, "expired"),
        ("direct-dead", "ded-00000001", "dead"),
        ("direct-after-death", "ded-00000001", "dead"),
        ("name-unknown", "nobody", "unknown"),
        ("role-unknown", "phantom", "unknown"),
        ("literal", "signal:+351000000", "unknown"),
    }
    for row in rows:
        assert list(row)[:6] == ["message_id", "recipient", "state", "since", "sender", "subject"]
        assert row["since"].endswith("Z")
        assert row["reason"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unread_mail_of_an_agent_is_what_it_has_still_to_read(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail, _ = every_case(tmp_path, time.time(), dialect)
    rows = run("read", "--as", ANN, "--unread", "--json", "--store", mail.url).document
    assert {row["id"] for row in rows} == {
        "direct-long",
        "direct-unread",
        "direct-prefix",
        "all-unread",
        "tag-unread",
        "tag-with-dead",
        "tag-union",
        "mention",
        "delivered",
    }
    agents = run("agents", "--json", "--store", mail.url).document
    assert {agent["session_id"]: agent["unread"] for agent in agents}[ANN] == len(rows)


def test_agents_are_told_with_the_fields_of_the_interface(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path, time.time())
    agents = run("agents", "--json", "--store", mail.url).document
    assert agents == run("roster", "list", "--json", "--store", mail.url).document
    assert list(agents[0]) == [
        *("session_id", "role", "tags", "status", "unread", "last_seen"),
        *("state", "substate", "since", "stale", "gone", "hook", "can_wake"),
    ]
    assert {agent["session_id"]: agent["status"] for agent in agents} == {
        "steward-0001": "living",
        ANN: "living",
        "bob-00000001": "living",
        FRO: "frozen",
        "ded-00000001": "dead",
        "old-00000001": "dead",
    }
    assert agents[0]["last_seen"].endswith("Z")
    assert agents[2]["last_seen"] is None


def test_channels_are_told_with_the_fields_of_the_interface(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path, time.time())
    channels = run("channels", "--json", "--store", mail.url).document
    assert {channel["tag"]: channel["messages"] for channel in channels} == {
        "project:ink": 4,
        "concern:rules": 2,
        "domain:empty": 2,
    }
    assert list(channels[0]) == ["tag", "messages", "unread", "agents"]
    own = run("channels", "--as", ANN, "--json", "--store", mail.url).document
    assert {channel["tag"]: channel["unread"] for channel in own} == {
        "project:ink": 3,
        "concern:rules": 1,
        "domain:empty": 1,
    }
