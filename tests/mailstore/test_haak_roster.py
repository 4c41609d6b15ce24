"""Rosters and archives of a HAAK mailbox (docs/semantics.md#records)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of
from mailstore.records.roster import Agent, Status
from tests.mailboxes import HOUR, NOW, MailFiles, iso
from tests.mailstore.haak_reading import body, events, folded, messages, problems, warnings

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


# The roster (16, 17)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("live", "living", "alive", "active", "awake", "Live"), Status.LIVING),
        (("frozen", "idle", "sleeping", "suspended"), Status.FROZEN),
        (("dead", "buried", "ended", "offline", "DEAD"), Status.DEAD),
    ],
)
@pytest.mark.parametrize("field", ["status", "state"])
def test_a_status_goes_by_many_words(mail: MailFiles, words: tuple[str, ...], status: Status, field: str) -> None:
    for number, word in enumerate(words):
        mail.line({"session_id": f"agent-{number:08}", field: word}, mail.roster)
    assert {agent.status for agent in of(Agent, events(mail))} == {status}
    assert not problems(mail)


@pytest.mark.parametrize("record", [{}, {"status": "asleep"}])
def test_a_missing_or_unknown_status_means_living_with_a_warning(mail: MailFiles, record: dict[str, str]) -> None:
    mail.line({"session_id": ANN, **record}, mail.roster)
    assert [agent.status for agent in of(Agent, events(mail))] == [Status.LIVING]
    assert len(warnings(mail)) == 1


def test_an_agent_dies_when_its_line_says_so_or_else_when_it_was_written(mail: MailFiles) -> None:
    mail.agent(ANN, "dead", ended_at=iso(NOW - HOUR), updated=iso(NOW))
    mail.agent(BOB, "dead", updated=iso(NOW))
    assert {agent.session_id: agent.ended_at for agent in of(Agent, events(mail))} == {ANN: NOW - HOUR, BOB: NOW}


def test_of_two_lines_about_one_session_the_last_wins(mail: MailFiles) -> None:
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    mail.agent(ANN, "dead", role="clerk", ended_at=iso(NOW))
    roster = folded(mail).roster
    ann = roster.get(ANN)
    assert ann is not None
    assert (ann.status, len(roster)) == (Status.DEAD, 2)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda agents: agents,
        lambda agents: {"agents": agents},
        lambda agents: {agent["session_id"]: agent for agent in agents},
        lambda agents: {"agents": {agent["session_id"]: {"role": agent["role"]} for agent in agents}},
    ],
)
def test_a_roster_may_be_one_document_in_several_forms(mail: MailFiles, wrap: Any) -> None:
    agents = [{"session_id": ANN, "status": "living", "role": "clerk"}, {"session_id": BOB, "role": ""}]
    (mail.data / "agent-roster.json").write_text(json.dumps(wrap(agents)))
    assert [(agent.session_id, agent.role) for agent in of(Agent, events(mail))] == [(ANN, "clerk"), (BOB, "")]


# The archive (19)


def test_archived_months_are_read_packed_or_not(mail: MailFiles) -> None:
    mail.message("old", BOB, ANN, "Old.", ago=60 * 24 * HOUR, archived=True)
    mail.message("older", BOB, ANN, "Older.", ago=120 * 24 * HOUR, archived=True)
    mail.message("new", BOB, ANN)
    month = max((mail.data / "agent-mailbox-archive").glob("*.jsonl"))
    month.with_suffix(".jsonl.gz").write_bytes(gzip.compress(month.read_bytes()))
    month.unlink()
    found = messages(mail)
    assert {name: one.archived for name, one in found.items()} == {"old": True, "older": True, "new": False}
    assert [body(mail, found[name]) for name in ("old", "older")] == ["Old.", "Older."]


def test_a_message_in_the_mailbox_and_in_the_archive_counts_once_and_lives(mail: MailFiles) -> None:
    mail.agent(ANN)
    mail.message("m", BOB, ANN, archived=True)
    mail.message("m", BOB, ANN)
    mail.message("old", BOB, ANN, archived=True)
    mailbox = folded(mail)
    found = mailbox.message("m")
    assert found is not None
    assert (len(mailbox), found.archived) == (2, False)
    assert mailbox.unread_count(ANN) == 1
