"""A message at which this program makes a mistake stops no other, and is not lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from console.cli import main
from mailstore.kinds.agentazall.ledger import ledger_file, turned_away_at
from mailstore.kinds.agentazall.message_file import SignedFile
from mailstore.kinds.agentazall.pins import SignatureChecker
from mailstore.kinds.agentazall.signature import SignatureFacts
from mailstore.kinds.agentazall.spools import FOLDER
from mailstore.kinds.agentazall.sync.engine import SyncEngine
from mailstore.kinds.agentazall.sync.plan import AccountPlan, AgentPlan, SyncPlan
from tests.kinds.agentazall.sync.disk_office import DiskTransport
from tests.kinds.agentazall.sync.rig import Machine
from tests.kinds.agentazall.sync.test_inbox import ALICE, BOB, incoming, received


def break_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    facts_of = SignatureChecker.facts_of

    def broken(self: SignatureChecker, message: SignedFile) -> SignatureFacts:
        if "poison" in message.body:
            raise ValueError("hunter2")
        return facts_of(self, message)

    monkeypatch.setattr(SignatureChecker, "facts_of", broken)


def test_a_message_at_which_the_check_fails_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        break_checker(patch)
        machine = received(tmp_path, incoming("k1", "poison", id="b" * 12), incoming("k2"))
        assert machine.bodies(BOB) == ["Hello"]
        (away,) = turned_away_at(machine.root)
        assert away.reason.startswith("internal error (ValueError at test_mistakes.py:")
        assert (away.sender, away.owner) == (ALICE, BOB)
        with closing(sqlite3.connect(ledger_file(machine.root))) as db:
            assert db.execute("SELECT excerpt FROM arrivals WHERE state = 'turned-away'").fetchall() == [(b"poison",)]
        assert len([line for line in machine.said if "was turned away: internal error" in line]) == 1
        assert not [line for line in machine.said if "hunter2" in line]
        assert machine.once().troubles == ()
        main(["sync", "status", str(machine.root)])
        assert "internal error (ValueError" in capsys.readouterr().out


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_relays_message_at_which_the_check_fails_stays_in_its_spool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    machine, server = Machine(tmp_path, BOB), tmp_path / "server"
    account = AccountPlan("relay", BOB, lambda: DiskTransport(server, BOB, "relay"), {})
    box = server / "bob"
    box.mkdir(parents=True)
    for number, message in enumerate((incoming("1_alice_b", "poison " * 2000, id="b" * 12), incoming("2_alice_a"))):
        (box / f"{number}.json").write_bytes(msgspec.json.encode(message))

    def once() -> tuple[str, ...]:
        with SyncEngine(SyncPlan(machine.root, (AgentPlan(BOB, (account,), machine.filter),), 10.0), told) as engine:
            return engine.once().troubles

    def told(line: str) -> None:
        machine.tell(line)
        if is_killed and "was turned away" in line:
            raise OSError(28, "stands for a kill after the record")

    with monkeypatch.context() as patch:
        break_checker(patch)
        assert bool(once()) is is_killed
        assert once() == ()
    assert machine.bodies(BOB) == ["Hello"]
    (aside,) = (machine.root / BOB / FOLDER).glob("*/*.aside")
    assert b"poison " * 2000 in aside.read_bytes()
    assert any(str(aside) in line for line in machine.said)
    aside.rename(aside.with_suffix(".bytes"))
    with SyncEngine(SyncPlan(machine.root, (AgentPlan(BOB, (account,), machine.filter),), 10.0), told) as engine:
        engine.try_again()
        engine.once()
    assert machine.bodies(BOB) == ["Hello", "poison " * 2000]
    assert not list((machine.root / BOB / FOLDER).glob("*/*.[ab]*"))
