"""A frozen agent loses no time, whatever kind of roster tells of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import HOUR, MailFiles, iso

ANN = "ann-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    """Write a message of thirty hours, of 24 by the protocol, and one that had run out before anybody was frozen."""
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.message("m", "bob-00000001", ANN, ago=30 * HOUR)
    mail.message("over", "bob-00000001", ANN, ago=60 * HOUR, ttl_hours=1)
    return mail


def states(run: Run, mail: MailFiles) -> dict[str, str]:
    rows = run("read", "--as", ANN, "--json", "--store", mail.url).document
    return {row["id"]: row["states"][ANN] for row in rows}


@pytest.mark.parametrize("is_document", [True, False])
@pytest.mark.parametrize("since", [20.0, None])
def test_a_message_lives_on_when_its_recipient_is_resumed(
    run: Run, mail: MailFiles, is_document: bool, since: float | None
) -> None:
    updated = {} if since is None else {"updated": iso(mail.now - since * HOUR)}
    mail.agent(ANN, "frozen", started_at=iso(mail.now - 100 * HOUR), **updated)
    if is_document:
        entry = json.loads(mail.roster.read_bytes())
        mail.roster.unlink()
        (mail.data / "agent-roster.json").write_text(json.dumps({"agents": {ANN: entry}}), encoding="utf-8")
    assert states(run, mail) == {"over": "frozen", "m": "frozen"}
    assert run("roster", "resume", "--session-id", ANN, "--store", mail.url).status == 0
    # where nothing tells since when it was frozen, no message can have run out
    assert states(run, mail) == {"over": "unread" if since is None else "expired", "m": "unread"}
    told = run("thread", "m", "--store", mail.url).out
    assert ("was frozen at unknown times" in told) == (since is None)
    # a second time adds to the first
    for action in ("freeze", "resume"):
        assert run("roster", action, "--session-id", ANN, "--store", mail.url).status == 0
    assert states(run, mail)["m"] == "unread"
    if is_document:
        [entry] = json.loads((mail.data / "agent-roster.json").read_bytes())["agents"].values()
        assert len(entry["frozen_spells"]) == 2


@pytest.mark.parametrize("spells", [5, "x", [[]], [[1, 2, 3]], [["soon", None]], {"a": 1}])
def test_spells_that_are_none_are_no_fault(run: Run, mail: MailFiles, spells: object) -> None:
    mail.agent(ANN, frozen_spells=spells)
    is_told = spells != [["soon", None]]  # a spell of which neither end can be read
    assert states(run, mail) == dict.fromkeys(("over", "m"), "expired" if is_told else "unread")
